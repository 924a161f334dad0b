"""Pages of HTML: one file for each report, with tables and pictures, that needs no network, no script and no font.

- `audit`: the page of an audit
- `bars`: values by name as pictures: bars against a bound, points with intervals
- `blocks`: parts of a page: sections, tables, drawings
- `compare`: the page of a comparison
- `curves`: values over rounds as a picture
- `cv`: the page of a cross-validation
- `drawing`: elements of SVG
- `fed`: the pages of a federation, and of an audit of clients
- `glossary`: the words of reports in a sentence each
- `heat_map`: the effects of an audit, columns by pieces
- `histograms`: distributions of columns as pictures
- `markup`: text from outside as XML, SVG and HTML show it
- `numbers`: numbers on a page
- `recipes`: the page of recipes
- `render`: a page from its content
- `scales`: axes of pictures
- `shared`: tables and sections that pages share
- `write`: the page of any report

The templates are in the folder `templates`. Nothing heavy is imported before a page is written.
"""
