"""Real model servers on loopback, each with a tiny scripted model: made, started, recorded and stopped here."""
