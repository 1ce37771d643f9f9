/** pdf returns a PDF with a page of text that has at least size bytes. */
export function pdf(text: string, size = 0): Uint8Array<ArrayBuffer> {
  const content = `BT /F 12 Tf 50 700 Td (${text}) Tj ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Count 1/Kids[3 0 R]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources<</Font<</F 4 0 R>>>>>>",
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    `<</Length ${size}>>stream\n${" ".repeat(size)}\nendstream`,
  ];
  let [file, places] = ["%PDF-1.7\n", ""];
  for (const [i, object] of objects.entries()) {
    places += `${String(file.length).padStart(10, "0")} 00000 n \n`;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
  }
  const count = objects.length + 1;
  file += `xref\n0 ${count}\n0000000000 65535 f \n${places}trailer\n<</Size ${count}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return new TextEncoder().encode(file);
}
