"""Files of the tests."""

from __future__ import annotations


def pdf(text: str, size: int = 0) -> bytes:
    """Return a PDF with a page of text that has at least size bytes."""
    content = f"BT /F 12 Tf 50 700 Td ({text}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources<</Font<</F 4 0 R>>>>>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        f"<</Length {size}>>stream\n{' ' * size}\nendstream",
    )
    file, places = "%PDF-1.7\n", ""
    for i, object in enumerate(objects, 1):
        places += f"{len(file):010d} 00000 n \n"
        file += f"{i} 0 obj\n{object}\nendobj\n"
    count = len(objects) + 1
    file += f"xref\n0 {count}\n0000000000 65535 f \n{places}trailer\n<</Size {count}/Root 1 0 R>>\nstartxref\n{len(file)}\n%%EOF\n"
    return file.encode()
