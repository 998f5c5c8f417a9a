ridge_fuzz(json LAYER base)
