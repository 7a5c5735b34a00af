"""Networks in torch, which is imported when one is first trained or asked."""
