"""Providers of services that upstream has none for."""
