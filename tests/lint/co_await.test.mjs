import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings, withoutTexts } from './co_await.mjs';

const bad = {
  'second operand': 'auto x = a ? co_await f() : b;',
  'third operand': 'co_return a ? b : co_await f();',
  'first operand': 'auto x = co_await f() ? a : b;',
  'inside a call in an operand': 'auto x = a ? g(1, h(co_await f())) : b;',
  'on several lines': 'auto x = a\n    ? b\n    : co_await f();',
  'in a nested conditional': 'auto x = a ? b : (c ? co_await d() : e);',
  'in an argument': 'g(1, a ? co_await f() : b);',
  'braced argument': 'g({1, co_await f()});',
  'braced initialiser': 'T x{co_await f()};',
  'braced temporary': 'co_return T{1, g(co_await f())};',
  'braced member': 'auto t = make(T{.a = co_await f(), .b = 2});',
  'switch': 'task f() { switch (co_await g()) { case 1: break; } }',
  'inside a call in switch': 'task f() { switch (h(co_await g())) { case 1: break; } }',
  'conditional argument': 'task f() { const auto x = co_await g(a ? b : c); }',
  'conditional argument of a method': 'task f() { co_await a.b->c(1, a ? b : c); }',
  'conditional expression inside a call in an argument': 'task f() { co_await g(h(a ? b : c)); }',
  'conditional expression inside braces in an argument': 'task f() { co_await g({a ? b : c}); }',
  'list in a block': 'void f() { if (x) { std::vector<int> v = {co_await a(), 2}; } }',
};
const good = {
  'a statement': 'task f() { co_await g(); }',
  'a value': 'task f() { const auto x = co_await g(b); use(T{x}, a ? b : c); }',
  'a condition followed by a conditional expression': 'task f() { if (co_await g()) x = a ? b : c; }',
  'a block followed by a conditional expression': 'task f() { while (co_await g()) { h(); } x = a ? b : c; }',
  'a block with one statement': 'task f() { for (auto x : co_await g()) { h(x); } }',
  'only a condition': 'task f() { if (!(co_await g())) { } }',
  'a lambda among braces': 'run({1, [&]() -> task { co_await g(); }});',
  'a lambda in an operand': 'auto x = a ? run([&]() -> task { co_await g(); }) : b;',
  'literals and comments': 'auto x = a ? "co_await" : b; // ? co_await :\n/* {co_await} */ auto r = R"x({co_await ? : })x";',
  'digit separators': "int n = 1'000'000; task f() { co_await g(1'000); }",
  'a conditional expression before': 'task f() { x = a ? b : c; co_await g(); }',
  'another argument': 'task f() { g(co_await h(), a ? b : c); }',
  'switch of a value': 'task f() { const auto x = co_await g(); switch (x) { case 1: co_await h(); } }',
  'a conditional expression in a lambda among arguments': 'task f() { co_await g([&](int n) { return n ? b : c; }); }',
  'a conditional expression after the call': 'task f() { const int x = co_await g(h); y = x ? 1 : 2; }',
  'a conditional expression in a condition after the call': 'task f() { if (co_await g(h)) y(a ? b : c); }',
  'return only': 'task f() { co_return co_await g(); }',
};

for (const [name, text] of Object.entries(bad)) test(`finds: ${name}`, () => assert.equal(findings(text).length > 0, true, text));
for (const [name, text] of Object.entries(good)) test(`accepts: ${name}`, () => assert.deepEqual(findings(text), [], text));
test('reports the line', () => assert.equal(findings('int a;\n\nauto x = a ? b\n : co_await f();')[0].line, 4));
test('literals and comments become spaces', () => assert.equal(withoutTexts('a "b" \'c\' // d').trimEnd(), 'a'));
