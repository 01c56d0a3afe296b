// Creates small documents of many formats byte by byte.
import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

// entries: [name, content, { store: true }?]; deflated unless stored.
export function zip(entries) {
  const locals = [], central = [];
  let offset = 0;
  for (const [name, content, { store = false } = {}] of entries) {
    const raw = Buffer.from(content), data = store ? raw : deflateRawSync(raw, { level: 9 }), n = Buffer.from(name);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(store ? 0 : 8, 4);
    head.writeUInt32LE(crc32(raw), 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(raw.length, 18);
    head.writeUInt16LE(n.length, 22);
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), head, n, data);
    const tail = Buffer.alloc(16);
    tail.writeUInt32LE(offset, 12);
    central.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), head.subarray(0, 24), Buffer.alloc(2), tail.subarray(2), n);
    offset += 30 + n.length + data.length;
  }
  const directory = Buffer.concat(central), end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

export const docx = (text) => zip([['[Content_Types].xml', '<Types/>'],
  ['word/document.xml', `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`]]);
export const xlsx = (cells) => zip([
  ['xl/workbook.xml', '<workbook xmlns:r="r"><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>'],
  ['xl/_rels/workbook.xml.rels', '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>'],
  ['xl/worksheets/sheet1.xml', `<worksheet><sheetData><row>${cells.map((c) => `<c t="inlineStr"><is><t>${c}</t></is></c>`).join('')}</row></sheetData></worksheet>`]]);
export const pptx = (text) => zip([['ppt/slides/slide1.xml', `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`]]);
export const odt = (text) => zip([['mimetype', 'application/vnd.oasis.opendocument.text'],
  ['content.xml', `<o:document-content xmlns:o="o" xmlns:text="t"><text:p>${text}</text:p></o:document-content>`]]);

// Builders of Office documents whose part names, namespaces and properties can vary, as they do between programs. relations: [id, type, target].
export const relationships = (relations) => `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.map(([id, type, target]) =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`).join('')}</Relationships>`;
const wordPart = (body, namespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main') =>
  `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="${namespace}"><w:body>${body}</w:body></w:document>`;
export const paragraph = (text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
// A Word document whose package refers to `target` as its main part; the part is stored as `main`.
export const wordDocument = (body, { main = 'word/document.xml', target = main, rels = '_rels/.rels', before = [], namespace } = {}) => zip([...before,
  [rels, relationships([['rId1', 'officeDocument', target]])], [main, wordPart(body, namespace)]]);
// A workbook with one sheet; `rows` is the content of sheetData.
export const workbook = (rows, { styles = '', strings = '', stringsPart = 'xl/sharedStrings.xml', stringsTarget = 'sharedStrings.xml', properties = '', main = 'xl/workbook.xml' } = {}) => zip([
  ['_rels/.rels', relationships([['rId1', 'officeDocument', main]])],
  [main, `<workbook xmlns:r="r">${properties}<sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`],
  [main.replace('xl/', 'xl/_rels/') + '.rels', relationships([['rId1', 'worksheet', 'worksheets/sheet1.xml'], ['rId2', 'styles', 'styles.xml'], ['rId3', 'sharedStrings', stringsTarget]])],
  ['xl/worksheets/sheet1.xml', `<worksheet><sheetData>${rows}</sheetData></worksheet>`],
  ['xl/styles.xml', `<styleSheet>${styles}</styleSheet>`], [stringsPart, `<sst>${strings}</sst>`]]);
// OpenDocument; `body` is the content of office:text or office:spreadsheet.
export const openDocument = (kind, body, more = []) => zip([['mimetype', `application/vnd.oasis.opendocument.${kind}`, { store: true }],
  ['content.xml', `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`], ...more]);

// A PDF with one page and this content stream. `font` replaces Helvetica; `extra`: further objects, numbered from 6.
export function pdf(content, { font = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>', extra = [] } = {}) {
  const stream = deflateSync(Buffer.from(content));
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    null,
    font, ...extra];
  const parts = [Buffer.from('%PDF-1.4\n')];
  const offsets = [];
  const size = () => parts.reduce((n, p) => n + p.length, 0);
  objects.forEach((o, i) => {
    offsets.push(size());
    if (o !== null) return parts.push(Buffer.from(`${i + 1} 0 obj\n${o}\nendobj\n`));
    parts.push(Buffer.from(`${i + 1} 0 obj\n<</Length ${stream.length}/Filter/FlateDecode>>\nstream\n`), stream, Buffer.from('\nendstream\nendobj\n'));
  });
  const xref = size();
  parts.push(Buffer.from(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${offsets.map((a) => `${String(a).padStart(10, '0')} 00000 n \n`).join('')}trailer\n<</Size ${offsets.length + 1}/Root 1 0 R>>\nstartxref\n${xref}\n%%EOF\n`));
  return Buffer.concat(parts);
}
export const pdfWith = (text) => pdf(`BT /F1 24 Tf 72 700 Td (${text}) Tj ET`);

// A PNG with these raw rows, each preceded by its filter byte; 8-bit RGB by default.
export function pngOf(width, height, rows, { depth = 8, color = 2, interlace = 0 } = {}) {
  const chunk = (type, data) => {
    const out = Buffer.alloc(12 + data.length);
    out.writeUInt32BE(data.length, 0);
    out.write(type, 4, 'latin1');
    data.copy(out, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, color, 0, 0, interlace], 8);
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}
// A black PNG in 8-bit greyscale.
export const png = (width, height) => pngOf(width, height, Buffer.alloc((width + 1) * height), { color: 0 });

const u16 = (n) => Buffer.from([n & 0xff, n >> 8 & 0xff]);
const u32 = (n) => Buffer.concat([u16(n & 0xffff), u16(n >>> 16)]);
const bytesAt = (size, parts) => {
  const out = Buffer.alloc(size);
  for (const [offset, bytes] of parts) bytes.copy(out, offset);
  return out;
};

// An OLE compound file with these streams in its root, as Office before 2007 writes it. Streams are padded to 4096
// bytes, so that none is in the mini stream.
export function compoundFile(streams) {
  const sector = 512, none = 0xffffffff, endOfChain = 0xfffffffe, fatSector = 0xfffffffd;
  const entry = (name, type, child, first, size) => {
    const text = Buffer.from(`${name}\0`, 'utf16le');
    return bytesAt(128, [[0, text], [64, u16(text.length)], [66, Buffer.from([type, 1])], [68, u32(none)], [72, u32(type === 5 ? none : child)], [76, u32(type === 5 ? child : none)], [116, u32(first)], [120, u32(size)]]);
  };
  const directory = [], fat = [fatSector], data = [];
  const names = Object.keys(streams);
  const directorySectors = Math.ceil((names.length + 1) / 4);
  for (let i = 0; i < directorySectors; ++i) fat.push(i + 1 < directorySectors ? fat.length + 1 : endOfChain);
  directory.push(entry('Root Entry', 5, names.length > 0 ? 1 : none, endOfChain, 0));
  names.forEach((name, i) => {
    const bytes = Buffer.concat([streams[name], Buffer.alloc(Math.max(0, 4096 - streams[name].length))]);
    directory.push(entry(name, 2, i + 1 < names.length ? i + 2 : none, fat.length, bytes.length));
    const sectors = Math.ceil(bytes.length / sector);
    for (let n = 0; n < sectors; ++n) fat.push(n + 1 < sectors ? fat.length + 1 : endOfChain);
    data.push(bytesAt(sectors * sector, [[0, bytes]]));
  });
  while (fat.length < sector / 4) fat.push(none);
  const header = bytesAt(sector, [[0, Buffer.from('D0CF11E0A1B11AE1', 'hex')], [24, u16(0x3e)], [26, u16(3)], [28, u16(0xfffe)], [30, u16(9)], [32, u16(6)], [44, u32(1)], [48, u32(1)], [56, u32(4096)], [60, u32(endOfChain)], [68, u32(endOfChain)],
    [76, u32(0)], [80, Buffer.alloc(432, 0xff)]]);
  return Buffer.concat([header, ...fat.map(u32), bytesAt(directorySectors * sector, [[0, Buffer.concat(directory)]]), ...data]);
}

// A document of Word 97 to 2003 with Unicode text.
export function oldWordDocument(text) {
  const bytes = Buffer.from(text, 'utf16le');
  const pieces = Buffer.concat([u32(0), u32(text.length), u16(0), u32(2048), u16(0)]);
  const table = Buffer.concat([Buffer.from([2]), u32(pieces.length), pieces]);
  return compoundFile({ WordDocument: bytesAt(4096 + bytes.length, [[0, u16(0xa5ec)], [2, u16(0xc1)], [0x4c, u32(text.length)], [0x1a2, u32(0)], [0x1a6, u32(table.length)], [2048, bytes]]), '0Table': table });
}

// A workbook of Excel 97 to 2003 with one sheet. Cells are strings, numbers, or dates as { day }.
export function oldWorkbook(rows) {
  const record = (type, ...body) => { const bytes = Buffer.concat(body); return Buffer.concat([u16(type), u16(bytes.length), bytes]); };
  const double = (n) => { const out = Buffer.alloc(8); out.writeDoubleLE(n); return out; };
  const cells = rows.flatMap((row, r) => row.map((value, c) => {
    const cell = [u16(r), u16(c), u16(value.day ? 1 : 0)];
    return typeof value === 'string' ? record(0x204, ...cell, u16(value.length), Buffer.from([1]), Buffer.from(value, 'utf16le')) : record(0x203, ...cell, double(value.day ?? value));
  }));
  const begin = (type) => record(0x809, u16(0x600), u16(type), Buffer.alloc(12)), end = record(0x0a);
  const globals = (position) => Buffer.concat([begin(5), record(0xe0, u16(0), u16(0)), record(0xe0, u16(0), u16(14)), record(0x85, u32(position), u16(0), Buffer.from([5, 0]), Buffer.from('Sheet')), end]);
  return compoundFile({ Workbook: Buffer.concat([globals(globals(0).length), begin(0x10), ...cells, end]) });
}

// A presentation of PowerPoint 97 to 2003 with one slide.
export function oldPresentation(text) {
  const record = (type, content, kind = 0) => Buffer.concat([u16(kind), u16(type), u32(content.length), content]);
  const container = (type, content, instance = 0) => record(type, content, instance << 4 | 0xf);
  const slide = container(0x3ee, container(0x40c, container(0xf002, container(0xf00d, record(0xfa0, Buffer.from(text, 'utf16le'))))));
  const document = container(0x3e8, container(0xff0, record(0x3f3, Buffer.concat([u32(2), u32(0), u32(0), u32(256), u32(0)]))));
  const directory = record(0x1772, Buffer.concat([u32(1 | 2 << 20), u32(0), u32(document.length)]));
  const directoryOffset = document.length + slide.length;
  const edit = record(0xff5, Buffer.concat([u32(0), u32(0), u32(0), u32(directoryOffset), u32(1), u32(3), u32(0)]));
  return compoundFile({ 'PowerPoint Document': Buffer.concat([document, slide, directory, edit]), 'Current User': record(0xff6, Buffer.concat([u32(20), u32(0xe391c05f), u32(directoryOffset + directory.length)])) });
}
