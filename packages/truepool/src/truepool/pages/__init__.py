"""Values -> terminal, markdown. No number is formatted anywhere else."""
