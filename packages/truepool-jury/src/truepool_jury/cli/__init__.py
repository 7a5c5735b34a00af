"""The verbs `truepool jury`, `truepool agent llm` and `truepool agent template`."""
