"""Many small networks trained as one batched computation."""
