"""Your model reads exactly what your tools returned, and re-reads exactly what it wrote."""
