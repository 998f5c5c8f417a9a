# Tests of src/profile/hlo.
ridge_test(unit hlo_shape LAYER profile)
ridge_test(unit hlo_text LAYER profile)
ridge_test(unit hlo_groups LAYER profile)
ridge_fuzz(hlo_text LAYER profile)
