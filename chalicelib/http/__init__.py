"""The declaration of operations, and what every one of them passes through."""
