"""Small files of all kinds, made where they are needed."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

from PIL import Image

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_M = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_O = "urn:oasis:names:tc:opendocument:xmlns"


def archive(parts: dict[str, str]) -> bytes:
    into = BytesIO()
    with ZipFile(into, "w", ZIP_DEFLATED) as made:
        for name, text in parts.items():
            made.writestr(name, text)
    return into.getvalue()


def docx(body: str = "") -> bytes:
    body = body or (
        "<w:p><w:r><w:t>Bonjour</w:t><w:tab/><w:t>à tous</w:t><w:br/><w:t>ici</w:t></w:r></w:p>"
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>b c</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    return archive({"word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>"})


def xlsx() -> bytes:
    return archive(
        {
            "xl/workbook.xml": f'<workbook {_M} xmlns:r="{_R}"><sheet name="Été" r:id="r1"/></workbook>',
            "xl/_rels/workbook.xml.rels": '<R><Relationship Id="r1" Target="worksheets/sheet1.xml"/></R>',
            "xl/sharedStrings.xml": f"<sst {_M}><si><t>Nom</t></si><si><r><t>Da</t></r><r><t>te</t></r></si></sst>",
            "xl/styles.xml": f'<styleSheet {_M}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
            "xl/worksheets/sheet1.xml": (
                f'<worksheet {_M}><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>'
                '<row><c r="A2"><v>1.5</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" s="1"><v>46356</v></c></row>'
                "</sheetData></worksheet>"
            ),
        }
    )


def pptx() -> bytes:
    slide = '<p:sld xmlns:p="p" xmlns:a="{}"><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:sld>'
    slides = {f"ppt/slides/slide{n}.xml": slide.format(_A, f"slide {n}") for n in (10, 2)}
    return archive({"ppt/presentation.xml": "<x/>", **slides})


def odt() -> bytes:
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": (
                f'<o:c xmlns:o="{_O}:office:1.0" xmlns:t="{_O}:text:1.0"><o:body><o:text><t:h>Titre</t:h>'
                '<t:p>un<t:s t:c="2"/><t:span>deux</t:span> trois</t:p></o:text></o:body></o:c>'
            ),
        }
    )


def pdf(text: str = "Hello from a page") -> bytes:
    drawn = f"BT /F1 12 Tf 10 50 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", list[int]()
    for n, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%sendobj\n" % (n, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + head + table + tail


def locked_pdf() -> bytes:
    from pypdf import PdfReader, PdfWriter

    made, into = PdfWriter(), BytesIO()
    made.append(PdfReader(BytesIO(pdf())))
    made.encrypt("secret")
    made.write(into)
    return into.getvalue()


def picture(form: str = "PNG", size: tuple[int, int] = (40, 20), mode: str = "RGB", **more: object) -> bytes:
    into = BytesIO()
    Image.new(mode, size, "red" if mode == "RGB" else 0).save(into, form, **more)
    return into.getvalue()


def photograph(place: str = "48.8 N") -> bytes:
    """A JPEG from a camera that was held sideways, with what it knows about itself."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010F], exif[0x9286] = 6, "Camera of Léa", place
    return picture("JPEG", (60, 30), exif=exif)
