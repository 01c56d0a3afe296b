// Components and hooks that all pages use.
import { Component } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

// Shows `instead` if rendering the children fails, so that the rest of the page stays.
export class Guard extends Component {
  static getDerivedStateFromError() { return { failed: true }; }
  render({ children, instead }, { failed }) { return failed ? instead : children; }
}

export function Field({ label, hint, as: As = 'input', type = As === 'input' ? 'text' : undefined, ...rest }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <As id={id} type={type} aria-describedby={hint ? `${id}-hint` : undefined} {...rest} />
      {hint && <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

// Shows an error, which gets the focus and is announced immediately.
export function Problem({ error }) {
  const at = useRef(null);
  useEffect(() => { if (error) at.current?.focus(); }, [error]);
  if (!error) return null;
  const wait = error.retryAfter ? ` Try again in ${error.retryAfter > 90 ? `${Math.ceil(error.retryAfter / 60)} minutes` : `${error.retryAfter} seconds`}.` : '';
  return <p class="problem" role="alert" tabIndex={-1} ref={at}>{error.message}{wait}</p>;
}

export const short = (id) => <code title={id}>{id.slice(-12)}</code>;

// Like useLoaded, and loads again every 5 seconds while the page is visible.
export function useFresh(fn, inputs = []) {
  const [value, error, load] = useLoaded(fn, inputs);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && load(), 5000);
    return () => clearInterval(timer);
  }, inputs);
  return [value, error, load];
}

// A table. columns: [label, function that renders the cell of a row, whether it is a number]
export function Rows({ label, columns, rows, none, id }) {
  if (!rows) return <p role="status">Loading…</p>;
  if (rows.length === 0) return <p>{none}</p>;
  return (
    <div class="table" tabIndex={0} role="region" aria-label={label}>
      <table class="cards">
        <thead><tr>{columns.map(([name, , number]) => <th key={name} scope="col" class={number ? 'figure' : undefined}>{name}</th>)}</tr></thead>
        <tbody>{rows.map((row) => (
          <tr key={id(row)}>{columns.map(([name, of, number]) => <td key={name} data-label={name} class={number ? 'figure' : undefined}>{of(row)}</td>)}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}

// Runs an action of a form or a button; returns [busy, error, act].
export function useAction(fn) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const act = async (...args) => {
    setBusy(true);
    setError(null);
    try {
      return await fn(...args);
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return [busy, error, act];
}

export function useLoaded(fn, inputs) {
  const [state, setState] = useState({ value: null, error: null });
  const load = () => {
    let current = true;
    setState((s) => ({ value: s.value, error: null }));
    fn().then((value) => current && setState({ value, error: null }), (error) => current && setState((s) => ({ ...s, error })));
    return () => { current = false; };
  };
  useEffect(load, inputs);
  return [state.value, state.error, load];
}

export const onSubmit = (fn) => (e) => {
  e.preventDefault();
  fn(Object.fromEntries(new FormData(e.currentTarget)));
};

const words = { running: 'Running', completed: 'Completed', failed: 'Failed', stopped: 'Stopped', queued: 'Waiting', pending: 'Pending', successful: 'Successful', revoked: 'Revoked', void: 'Does not count', gathered: 'In a digest', sent: 'Sent', suppressed: 'Not sent', dead: 'Not delivered', cancelled: 'Cancelled', scheduled: 'Scheduled', paused: 'Paused', started: 'Running', disabled: 'Disabled', refused: 'Refused', retired: 'Did not stop', created: 'Not started' };
export const wordOf = (status) => words[status] ?? status;
export const Status = ({ of }) => <span class={`status ${of}`}>{wordOf(of)}</span>;

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
export const Time = ({ at }) => <time dateTime={at}>{dates.format(new Date(at))}</time>;

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
export const credits = (n) => numbers.format(n);

export function Title({ children, text }) {
  const at = useRef(null);
  useEffect(() => {
    document.title = `${text ?? children} – Runyard`;
    at.current?.focus();
  }, [text ?? children]);
  return <h1 tabIndex={-1} ref={at}>{children}</h1>;
}
