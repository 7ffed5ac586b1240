"""gpt-oss Harmony: sampled text or tokens to and from message history, token for token."""
