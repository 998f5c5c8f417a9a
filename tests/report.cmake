ridge_test(unit chart LAYER report)
ridge_test(unit chart_axis LAYER report)
ridge_test(unit html_page LAYER report)
ridge_test(property chart_frame LAYER report)
