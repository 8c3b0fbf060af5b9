"""Opens models with a context, and reports their memory."""
