"""OpenAI-compatible Chat Completions: what goes out, what comes back."""
