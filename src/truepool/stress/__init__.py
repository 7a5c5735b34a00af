"""What the world does to a pool: worlds that move, made to order and by seed."""
