// Text extraction from documents of programs other than Microsoft Office, texts in many encodings, and misleading
// files.
import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { compoundFile, oldPresentation, oldWordDocument, oldWorkbook, openDocument, paragraph, pdf, pdfWith, relationships, wordDocument, workbook, zip } from './lib/documents.mjs';
import { startLlm } from './lib/llm.mjs';
import { Server, makeDatabase } from './lib/server.mjs';
import { uploadTo } from './lib/uploads.mjs';

let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => reply.say('read it'));
  server = await new Server({ database, llm }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// Uploads files by name and returns what uploadTo() returns.
const upload = async (files) => uploadTo(llm, await server.user(), Object.entries(files).map(([name, data]) => ({ name, data })));
// The text of a sheet without its heading, as rows of cells.
const cells = async (run, name) => (await run.text(name))?.trimEnd().split('\n').slice(1).map((line) => line.split('\t'));

test('the main part of an Office document is taken from the package relationships', async () => {
  const plan = paragraph('Quarterly plan');
  const files = {
    'second.docx': wordDocument(plan, { main: 'word/document2.xml' }),
    'slash.docx': wordDocument(plan, { target: '/word/document.xml' }),
    'strict.docx': wordDocument(plan, { namespace: 'http://purl.oclc.org/ooxml/wordprocessingml/main' }),
    'elsewhere.docx': wordDocument(plan, { main: 'content/main.xml' }),
    'backslash.docx': wordDocument(plan, { main: 'word\\document.xml', target: 'word/document.xml', rels: '_rels\\.rels' }),
    'case.docx': wordDocument(plan, { main: 'Word/Document.xml', target: 'word/document.xml' }),
    'book.xlsx': workbook('<row><c t="inlineStr"><is><t>Quarterly plan</t></is></c></row>', { main: 'xl/workbook2.xml' }),
  };
  const run = await upload(files);
  for (const name of Object.keys(files)) assert.match(await run.text(name) ?? run.prompt, /^(--- .*\n)?Quarterly plan\n$/, name);
});

test('cells of a workbook show dates, percentages, formulas and shared strings', async () => {
  const styles = '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy hh:mm"/><numFmt numFmtId="165" formatCode="#,##0.00 &quot;days&quot;"/></numFmts>'
    + `<cellXfs>${[0, 14, 9, 164, 165].map((n) => `<xf numFmtId="${n}"/>`).join('')}</cellXfs>`;
  const cell = (at, style, value) => `<c r="${at}" s="${style}"><v>${value}</v></c>`;
  const text = '<row><c t="s"><v>0</v></c><c><v>0.55000000000000004</v></c></row>';
  const run = await upload({
    'dates.xlsx': workbook(`<row>${cell('A1', 1, 46024)}${cell('B1', 2, 0.25)}${cell('C1', 3, 46024.5)}${cell('D1', 4, 46024)}${cell('E1', 0, 46024)}</row>`, { styles }),
    'mac.xlsx': workbook(`<row>${cell('A1', 1, 44562)}</row>`, { styles, properties: '<workbookPr date1904="1"/>' }),
    'formula.xlsx': workbook('<row><c><v>2</v></c><c><f>A1+1</f></c><c><f>A1*3</f><v>6</v></c></row>'),
    'case.xlsx': workbook(text, { strings: '<si><t>Total</t></si>', stringsPart: 'xl/SharedStrings.xml' }),
    'named.xlsx': workbook(text, { strings: '<si><r><t>To</t></r><r><t>tal</t></r></si>', stringsPart: 'xl/strings1.xml', stringsTarget: '/xl/strings1.xml' }),
    'escaped.xlsx': workbook(text, { strings: '<si><t>first_x000D_\nsecond</t></si>' }),
  });
  assert.deepEqual(await cells(run, 'dates.xlsx'), [['2026-01-02', '25%', '2026-01-02 12:00', '46024', '46024']]);
  assert.deepEqual(await cells(run, 'mac.xlsx'), [['2026-01-02']]);
  assert.deepEqual(await cells(run, 'formula.xlsx'), [['2', '=A1+1', '6']]);
  assert.deepEqual(await cells(run, 'case.xlsx'), [['Total', '0.55']]);
  assert.deepEqual(await cells(run, 'named.xlsx'), [['Total', '0.55']]);
  assert.deepEqual(await cells(run, 'escaped.xlsx'), [['first  second', '0.55']]);
});

test('repeated cells and rows of an OpenDocument spreadsheet are expanded', async () => {
  const cell = (text, repeated = 1) => `<table:table-cell table:number-columns-repeated="${repeated}">${text && `<text:p>${text}</text:p>`}</table:table-cell>`;
  const row = (inside, repeated = 1) => `<table:table-row table:number-rows-repeated="${repeated}">${inside}</table:table-row>`;
  const run = await upload({ 'book.ods': openDocument('spreadsheet', `<table:table table:name="T">${row(cell('Q1') + cell('Q2') + cell('Q3') + cell('Q4'))}${row(cell('0', 3) + cell('5'))}${row(cell('a') + cell('b'), 3)}${row(cell('', 2) + cell('c'))}${row(cell('', 1000), 1000000)}</table:table>`) });
  assert.deepEqual(await cells(run, 'book.ods'), [['Q1', 'Q2', 'Q3', 'Q4'], ['0', '0', '0', '5'], ['a', 'b'], ['a', 'b'], ['a', 'b'], ['', '', 'c']]);
});

test('slides appear in the order of the presentation, with their notes', async () => {
  const slide = (text) => `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  const run = await upload({ 'talk.pptx': zip([
    ['_rels/.rels', relationships([['rId1', 'officeDocument', 'ppt/presentation.xml']])],
    ['ppt/presentation.xml', '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>'],
    ['ppt/_rels/presentation.xml.rels', relationships([['rId1', 'slide', 'slides/slide1.xml'], ['rId2', 'slide', 'slides/slide2.xml']])],
    ['ppt/slides/slide1.xml', slide('second')], ['ppt/slides/slide2.xml', slide('first')],
    ['ppt/slides/_rels/slide2.xml.rels', relationships([['rId1', 'notesSlide', '../notesSlides/notesSlide1.xml']])],
    ['ppt/notesSlides/notesSlide1.xml', slide('of the first')]]) });
  assert.equal(await run.text('talk.pptx'), '--- Slide 1 ---\nfirst\nNotes:\nof the first\n--- Slide 2 ---\nsecond\n');
});

// Encodes a text by inverting the decoding table of TextDecoder.
function encode(text, label) {
  const decoder = new TextDecoder(label), table = new Map();
  for (let a = 255; a >= 0; --a) {
    for (let b = 255; b >= 0x30 && a >= 0x80; --b) {
      const s = decoder.decode(Uint8Array.of(a, b));
      if ([...s].length === 1 && s !== '\ufffd') table.set(s, [a, b]);
    }
    const s = decoder.decode(Uint8Array.of(a));
    if (s !== '\ufffd') table.set(s, [a]);
  }
  if (label === 'windows-1252') table.set('€', [0x80]);  // versions of Node.js decode it as ISO 8859-1
  return Buffer.from([...text].flatMap((c) => table.get(c) ?? [0x3f]));
}

test('texts in regional encodings are converted, and the prompt names the encoding', async () => {
  const texts = {
    shift_jis: '日付,商品,数量\n一月,りんごとみかん,十二\n今日はとても良い天気なので、みんなで公園へ行きました。\n',
    'euc-jp': '日付,商品,数量\n一月,りんごとみかん,十二\n今日はとても良い天気なので、みんなで公園へ行きました。\n',
    gbk: '日期,商品,数量\n一月,苹果和橘子,十二\n今天天气很好,我们一起去公园散步,然后回家吃饭。\n',
    big5: '日期,商品,數量\n一月,蘋果和橘子,十二\n今天天氣很好,我們一起去公園散步,然後回家吃飯。\n',
    'euc-kr': '날짜,상품,수량\n일월,사과와 귤,열둘\n오늘은 날씨가 아주 좋아서 모두 함께 공원에 갔습니다.\n',
    'windows-1251': 'Дата;Товар;Количество\nСегодня очень хорошая погода, и мы все вместе пошли в парк.\n',
    'iso-8859-2': 'Data;Towar;Ilość\nDziś jest bardzo ładna pogoda, więc poszliśmy wszyscy razem do łódzkiego parku źródlanego.\n',
    'windows-1252': 'Datum;Ware;Menge\nHeute ist das Wetter schön, darum gehen wir für zwölf € über die Straße.\n',
  };
  const files = Object.fromEntries(Object.entries(texts).map(([label, text]) => [`${label}.csv`, encode(text, label)]));
  const run = await upload(files);
  for (const [label, text] of Object.entries(texts)) {
    assert.equal(await run.text(`${label}.csv`), text, label);
    assert.match(run.prompt, new RegExp(`\\[Text of ${label}\\.csv, converted from [A-Z0-9-]+ \\(`), label);
  }
});

test('byte order marks and charset declarations are respected, and an unknown encoding is reported', async () => {
  const run = await upload({
    'utf16.csv': Buffer.from('name;city\nЖук;Köln\n', 'utf16le'),
    'marked.csv': '\ufeffname;city\nMüller;Köln\n',
    'page.html': Buffer.concat([Buffer.from('<meta charset=Shift_JIS>'), Buffer.from([0x8b, 0x63, 0x8e, 0x96, 0x98, 0x5e])]),
    'unknown.txt': Buffer.from([0xe8, 0x61, 0x6a, 0x0a]),
    'short.csv': Buffer.from([0xc8, 0xd5, 0xc6, 0xda, 0x2c, 0xbd, 0xf0, 0xb6, 0xee, 0x0a]),
  });
  assert.equal(await run.text('utf16.csv'), 'name;city\nЖук;Köln\n');
  assert.equal(await run.text('marked.csv'), 'name;city\nMüller;Köln\n');
  assert.equal(await run.text('page.html'), '<meta charset=Shift_JIS>議事録');
  assert.equal(await run.text('short.csv'), '日期,金额\n');
  assert.doesNotMatch(run.prompt, /Text of marked/);
  assert.equal(await run.text('unknown.txt'), null);
  assert.match(run.prompt, /\[No text of unknown\.txt: it is text in an unknown encoding/);
});

test('a file is classified by its content, not by names that it mentions', async () => {
  const real = pdfWith('Quarterly plan');
  const run = await upload({
    'find.sh': '#!/bin/sh\n# finds files that begin with %PDF-1.4\ngrep -l "^%PDF-" "$@"\n',
    'notes.md': '# How PDF files begin\n\n```\n%PDF-1.7\n```\n',
    'header.txt': '%PDF-1.7 is how PDF files begin.\n',
    'attached.docx': wordDocument(paragraph('Quarterly plan'), { before: [['word/embeddings/a.pdf', pdfWith('inner'), { store: true }]] }),
    'junk.pdf': Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n'), real]),
    'tail.pdf': Buffer.concat([real, Buffer.alloc(600)]),
  });
  assert.match(await run.text('find.sh'), /^#!\/bin\/sh/);
  assert.match(await run.text('notes.md'), /^# How/);
  assert.match(await run.text('header.txt'), /^%PDF-1\.7 is/);
  assert.doesNotMatch(run.prompt, /No text of/);
  for (const name of ['attached.docx', 'junk.pdf', 'tail.pdf']) assert.match(await run.text(name), /^Quarterly plan/, name);
});

test('text is extracted from Rich Text and documents of Word, Excel and PowerPoint before 2007', async () => {
  const run = await upload({
    'plan.doc': oldWordDocument('Quarterly plan\r議事録 Café\r'),
    'plan.xls': oldWorkbook([['Zahl', 'Größe'], [{ day: 46024 }, 0.55]]),
    'plan.ppt': oldPresentation('Überblick\r計画'),
    'plan.rtf': Buffer.from(String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}\f0 Caf\'e9 {\b plan}\par\f1\'cf\'eb\'e0\'ed \u24180?}`),
    'mail.msg': compoundFile({ '__properties_version1.0': Buffer.alloc(32) }),
    'talk95.ppt': compoundFile({ PP40: Buffer.alloc(32) }),
  });
  assert.equal(await run.text('plan.doc'), 'Quarterly plan\n議事録 Café\n');
  assert.deepEqual(await cells(run, 'plan.xls'), [['Zahl', 'Größe'], ['2026-01-02', '0.55']]);
  assert.equal(await run.text('plan.ppt'), '--- Slide 1 ---\nÜberblick\n計画\n');
  assert.equal(await run.text('plan.rtf'), 'Café plan\nПлан 年');
  assert.match(run.prompt, /\[No text of mail\.msg: it is a message of Outlook \(msg\), which cannot be read; save it as text\]/);
  assert.match(run.prompt, /\[No text of talk95\.ppt: it is a presentation of PowerPoint 95 or earlier, which cannot be read; save it as pptx\]/);
});

// An OLE container with the directory entries of an encrypted Office document.
function encryptedPackage() {
  const out = Buffer.alloc(4096);
  Buffer.from('D0CF11E0A1B11AE1', 'hex').copy(out);
  Buffer.from('EncryptionInfo', 'utf16le').copy(out, 1024 + 128);
  Buffer.from('EncryptedPackage', 'utf16le').copy(out, 1024 + 256);
  return out;
}

// A PDF that requires a password: it uses the standard security handler, and its keys do not match an empty password.
function lockedPdf() {
  const cipher = createCipheriv('aes-128-ctr', randomBytes(16), randomBytes(16));
  const bytes = Buffer.from(pdfWith('secret').toString('latin1').replace('trailer\n<<', `trailer\n<</Encrypt<</Filter/Standard/V 1/R 2/Length 40/P -64/O<${cipher.update(Buffer.alloc(32)).toString('hex')}>/U<${cipher.update(Buffer.alloc(32)).toString('hex')}>>>/ID[<${'07'.repeat(16)}><${'07'.repeat(16)}>]`), 'latin1');
  return bytes;
}

test('encrypted documents and scans are reported as such', async () => {
  const manifest = '<manifest:manifest xmlns:manifest="m"><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>';
  const run = await upload({
    'plan.docx': encryptedPackage(),
    'old.doc': Buffer.concat([Buffer.from('D0CF11E0A1B11AE1', 'hex'), Buffer.alloc(2000)]),
    'sealed.odt': zip([['mimetype', 'application/vnd.oasis.opendocument.text', { store: true }], ['content.xml', randomBytes(400), { store: true }], ['META-INF/manifest.xml', manifest]]),
    'locked.pdf': lockedPdf(),
    'scan.pdf': pdf('q 200 0 0 200 0 0 cm Q'),
  });
  assert.match(run.prompt, /\[No text of plan\.docx: it is encrypted/);
  assert.match(run.prompt, /\[No text of old\.doc: it is in the binary format of old office programs \(doc, xls, ppt\) and damaged\]/);
  assert.match(run.prompt, /\[No text of sealed\.odt: it is encrypted\]/);
  assert.match(run.prompt, /\[No text of locked\.pdf: it is encrypted and needs a password\]/);
  assert.match(run.prompt, /\[No text of scan\.pdf: it has no text layer: it is probably a scan/);
});

test('text is extracted from Japanese and Chinese PDF files; without poppler-data the prompt names it', async () => {
  const font = (map, ordering) => `<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3/Encoding/${map}/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>/FontDescriptor 6 0 R>>]>>`;
  const extra = ['<</Type/FontDescriptor/FontName/HeiseiMin-W3/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>'];
  const cidPdf = (map, ordering, hex) => pdf(`BT /F1 18 Tf 72 700 Td <${hex}> Tj ET`, { font: font(map, ordering), extra });
  const run = await upload({ 'japanese.pdf': cidPdf('90ms-RKSJ-H', 'Japan1', '93fa967b8cea'), 'chinese.pdf': cidPdf('GBK-EUC-H', 'GB1', 'd6d0cec4') });
  for (const [name, text] of [['japanese.pdf', '日本語'], ['chinese.pdf', '中文']])
    if (existsSync('/usr/share/poppler/cMap')) assert.match(await run.text(name) ?? run.prompt, new RegExp(`^${text}`), name);
    else assert.match(run.prompt, new RegExp(`No text of ${name.replace('.', '\\.')}: .*poppler-data`));
});
