// Compares the text that runyard-extract finds in documents with that of a reference tool: mammoth (docx), SheetJS
// (workbooks), officeparser (presentations, OpenDocument text, Rich Text), PDF.js, word-extractor (doc) and catppt
// (ppt). Prints a table for bench/RESULTS.md and, with --verbose, the words that are missing for each file. A word that
// the reference tool joins from words that runyard-extract separates (over the end of a paragraph or of a table cell)
// is not lost; the table counts such words separately.
//
//   npm install --prefix DIR mammoth xlsx officeparser pdfjs-dist word-extractor; apt-get install catdoc
//   node bench/documents.mjs --extractor build/bin/runyard-extract --reference DIR [--verbose] DIRECTORY...
import { execFileSync, fork } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath, pathToFileURL } from 'node:url';

const { values: options, positionals: directories } = parseArgs({
  allowPositionals: true,
  options: { extractor: { type: 'string', default: 'build/bin/runyard-extract' }, reference: { type: 'string' }, verbose: { type: 'boolean', default: false } },
});
if (!options.reference || directories.length === 0) {
  console.error('usage: node bench/documents.mjs --extractor PROGRAM --reference DIR [--verbose] DIRECTORY...');
  process.exit(2);
}
const seconds = 30;  // for the reference tool and one file
const formatOf = (file) => extname(file).slice(1).toLowerCase();
const tools = {};  // the reference tools, loaded only in the child process

// Without optional hyphens, and with one form of sigma, whose lower case depends on its position.
const folded = (text) => text.normalize('NFKC').toLowerCase().replaceAll('\u00AD', '').replaceAll('ς', 'σ');
const words = (text) => folded(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
// Letters instead of words, because tools join the pieces of a line of a PDF with different spaces.
const letters = (text) => folded(text).match(/[\p{L}\p{N}]/gu) ?? [];

// Returns the displayed text of a cell in the notation of runyard-extract.
function cellText(cell) {
  if (cell.t === 'n') {
    const code = cell.z === undefined ? '' : String(cell.z);
    if (tools.sheets.SSF.is_date(code)) return isoDate(cell.v, code);
    const value = /%/.test(code.replace(/"[^"]*"|\\./g, '')) ? cell.v * 100 : cell.v;
    return decimal(Number(value.toPrecision(15)));
  }
  if (cell.t === 'b') return cell.v ? 'TRUE' : 'FALSE';
  if (cell.t === 'e') return cell.w ?? '';
  return cell.v === undefined ? '' : String(cell.v);
}
// Omits the exponent where runyard-extract does.
const decimal = (value) => Math.abs(value) >= 1e-9 && Math.abs(value) < 1e21 ? value.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 15 }) : String(value);
function isoDate(serial, code) {
  const d = tools.sheets.SSF.parse_date_code(serial, { date1904: isoDate.date1904 });
  if (!d || !/[yd]/i.test(code)) return '';  // times and durations are not compared
  return [[d.y, 4], [d.m, 2], [d.d, 2]].map(([n, width]) => String(n).padStart(width, '0')).join('-');
}
function workbookText(bytes) {
  const book = tools.sheets.read(bytes, { cellNF: true, cellStyles: false });
  isoDate.date1904 = book.Workbook?.WBProps?.date1904 ?? false;
  return book.SheetNames.map((name) => `${name} ${Object.entries(book.Sheets[name]).filter(([at]) => !at.startsWith('!')).map(([, cell]) => cellText(cell)).join(' ')}`).join('\n');
}
async function pdfText(bytes) {
  const document = await tools.pdf.getDocument({ data: new Uint8Array(bytes), verbosity: 0, cMapUrl: join(options.reference, 'node_modules/pdfjs-dist/cmaps/'), cMapPacked: true }).promise;
  let text = '';
  for (let n = 1; n <= document.numPages; ++n) text += (await (await document.getPage(n)).getTextContent()).items.map((item) => item.str ?? '').join(' ') + '\n';
  return text;
}
const parsed = async (bytes) => (await tools.office.parseOffice(bytes)).toText();
async function wordText(bytes) {
  const document = await new tools.word().extract(bytes);
  return [document.getBody(), document.getFootnotes(), document.getEndnotes(), document.getHeaders(), document.getAnnotations(), document.getTextboxes()].join('\n');
}
const program = (name, ...args) => async (bytes, file) => execFileSync(name, [...args, file], { encoding: 'utf8', maxBuffer: 256 << 20, timeout: seconds * 1000, stdio: ['ignore', 'pipe', 'ignore'] });
const references = {
  docx: { tool: 'mammoth', read: async (bytes) => (await tools.mammoth.extractRawText({ buffer: bytes })).value, units: words },
  xlsx: { tool: 'SheetJS', read: workbookText, units: words },
  xlsm: { tool: 'SheetJS', read: workbookText, units: words },
  ods: { tool: 'SheetJS', read: workbookText, units: words },
  pptx: { tool: 'officeparser', read: parsed, units: words },
  odt: { tool: 'officeparser', read: parsed, units: words },
  odp: { tool: 'officeparser', read: parsed, units: words },
  doc: { tool: 'word-extractor', read: wordText, units: words },
  dot: { tool: 'word-extractor', read: wordText, units: words },
  xls: { tool: 'SheetJS', read: workbookText, units: words },
  xlt: { tool: 'SheetJS', read: workbookText, units: words },
  ppt: { tool: 'catppt', read: program('catppt', '-dutf-8'), units: words },
  rtf: { tool: 'officeparser', read: parsed, units: words },
  pdf: { tool: 'PDF.js, letters', read: pdfText, units: letters },
};

// The text of the reference tool, from a child process that is killed if it hangs.
let child;
const answerOf = (worker, ms) => new Promise((done) => {
  const timer = setTimeout(() => finish({ problem: `no result after ${ms / 1000} s` }), ms);
  const finish = (answer) => {
    clearTimeout(timer);
    worker.removeAllListeners();
    done(answer);
  };
  worker.once('message', finish);
  worker.once('exit', (code, signal) => finish({ problem: `it exited with ${signal ?? code}` }));
});
async function referenceText(file) {
  if (!child) {
    child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), { execArgv: ['--max-old-space-size=2048'], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    await answerOf(child, 60_000);
  }
  const answer = answerOf(child, seconds * 1000);
  child.send(file);
  const result = await answer;
  if (/^(no result|it exited)/.test(result.problem ?? '')) stopChild();
  return result;
}
function stopChild() {
  child?.kill('SIGKILL');
  child = undefined;
}

// Runs the extractor as the server does, for at most 20 s.
function extract(file) {
  try {
    const out = execFileSync('timeout', ['20', options.extractor, String(64 << 20), file], { encoding: 'utf8', maxBuffer: 256 << 20 });
    const end = out.indexOf('\n');
    return { line: out.slice(0, end), text: out.slice(end + 1) };
  } catch (e) {
    return { line: `none it ${e.status === 124 ? 'takes too long' : `exits with ${e.signal ?? e.status}`}`, text: '' };
  }
}

function missing(from, inside) {
  const have = new Map();
  for (const word of inside) have.set(word, (have.get(word) ?? 0) + 1);
  return from.filter((word) => {
    const n = have.get(word) ?? 0;
    if (n > 0) have.set(word, n - 1);
    return n === 0;
  });
}

// Whether the words of a text contain this one when they are written without spaces between them.
const isJoined = (word, squeezed) => word.length > 4 && squeezed.includes(word);
const shortened = (word) => word.length > 40 ? `${word.slice(0, 40)}...` : word;

function* files(directory) {
  for (const name of readdirSync(directory).sort()) {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else yield path;
  }
}

async function compare() {
  const rows = new Map();
  for (const file of directories.flatMap((directory) => [...files(directory)])) {
    const format = formatOf(file), reference = references[format];
    if (!reference) continue;
    if (!rows.has(format)) rows.set(format, { files: 0, refused: 0, notCompared: 0, extracted: 0, reference: 0, lost: 0, joined: 0, onlyOurs: 0 });
    const row = rows.get(format);
    ++row.files;
    const found = extract(file), read = found.line.startsWith('text');
    if (!read) ++row.refused;
    const result = await referenceText(file);
    if (result.problem !== undefined) {
      ++row.notCompared;
      if (options.verbose) console.log(`${file}: ${found.line}; ${reference.tool} fails: ${result.problem}`);
      continue;
    }
    const right = reference.units(result.text), ours = read ? reference.units(found.text) : [];
    const absent = missing(right, ours), squeezed = reference.units === words ? ours.join('') : '';
    const lost = absent.filter((word) => !isJoined(word, squeezed));
    row.joined += absent.length - lost.length;
    row.extracted += ours.length;
    row.reference += right.length;
    row.lost += lost.length;
    row.onlyOurs +=  missing(ours, right).length;
    if (options.verbose && (lost.length > 0 || !read)) console.log(`${file}: ${found.line}; lost ${lost.length} of ${right.length}: ${lost.slice(0, 12).map(shortened).join(' ')}`);
  }
  stopChild();
  console.log('| format | reference tool | files | without text | not compared | words extracted | words of the reference tool | lost | joined by the reference tool | found only by Runyard |\n|---|---|---|---|---|---|---|---|---|---|');
  for (const [format, r] of [...rows].sort()) console.log(`| ${format} | ${references[format].tool} | ${r.files} | ${r.refused} | ${r.notCompared} | ${r.extracted} | ${r.reference} | ${r.lost} | ${r.joined} | ${r.onlyOurs} |`);
}

if (process.send) {
  const require = createRequire(join(resolve(options.reference), 'package.json'));
  const load = (name) => import(pathToFileURL(require.resolve(name)).href);
  const [{ default: mammoth }, { default: sheets }, { default: office }, { default: word }, pdf] = await Promise.all(['mammoth', 'xlsx', 'officeparser', 'word-extractor', 'pdfjs-dist/legacy/build/pdf.mjs'].map(load));
  Object.assign(tools, { mammoth, sheets, office, word, pdf });
  process.on('message', async (file) => {
    try {
      process.send({ text: await references[formatOf(file)].read(readFileSync(file), file) });
    } catch (e) {
      process.send({ problem: String(e.message).split('\n')[0] });
    }
  });
  process.send({});
} else {
  await compare();
}
