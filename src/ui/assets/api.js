// The page's only way out: JSON from and to the API, its problems as errors. The token is in a cookie that no script
// can read.

import { signal } from '@preact/signals';

const NAME = 'sitewright.name';

/** A refusal of the API: message and hint. */
export class ApiProblem extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title ?? 'The API did not answer');
    this.problem = problem;
  }
}

/** Who acts; kept in this browser, sent with every request, and from there in reports and the audit. */
const name = signal(localStorage.getItem(NAME) ?? '');
export const operator = {
  get name() {
    return name.value;
  },
  set name(value) {
    name.value = value;
    localStorage.setItem(NAME, value);
  },
};

let noteAnswer = () => undefined;

/** Learns of every request whether the API answered it. */
export const answersOfApi = (listener) => {
  noteAnswer = listener;
};

function headers(more) {
  const all = new Headers(more);
  // Headers are bytes; the API reads these as UTF-8.
  const bytes = new TextEncoder().encode(operator.name);
  if (bytes.length > 0) all.set('x-sitewright-user', String.fromCharCode(...bytes));
  return all;
}

/** The raw response, for anything but JSON. `body` is sent as JSON, a file as it is. @throws ApiProblem */
export async function request(path, { method = 'GET', body, signal, accept = 'application/json' } = {}) {
  const init = { method, signal, headers: headers({ accept }) };
  if (body instanceof Blob) {
    init.body = body;
    init.headers.set('content-type', 'application/octet-stream');
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers.set('content-type', 'application/json');
  }
  let answer;
  try {
    answer = await fetch(path, init);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    noteAnswer(false);
    throw new ApiProblem({
      code: 'away',
      detail: `The API does not answer.${method === 'GET' ? '' : ' It may have been executed: check before you repeat it.'}`,
      hint: 'Is it running? This page continues as soon as it is back.',
    });
  }
  noteAnswer(true);
  if (answer.ok) return answer;
  const problem = await answer
    .json()
    .catch(() => ({ code: 'unexpected', detail: `The API answered ${answer.status}.` }));
  if (answer.status === 401) {
    // The cookie is no longer valid.
    const ended = answer.headers.get('www-authenticate')?.includes('invalid_token') === true;
    dispatchEvent(new CustomEvent('sitewright:login', { detail: { ...problem, ended } }));
  }
  throw new ApiProblem({ status: answer.status, ...problem });
}

export async function get(path, signal) {
  return (await request(path, { signal })).json();
}

export async function send(method, path, body) {
  const answer = await request(path, { method, body });
  return answer.status === 204 ? null : answer.json();
}

export const post = (path, body = {}) => send('POST', path, body);

/** A query of the non-empty fields, with its question mark; a list is repeated. */
export function query(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const all = given.flatMap(([key, value]) => [value].flat().map((one) => [key, one]));
  return all.length === 0 ? '' : `?${new URLSearchParams(all)}`;
}

/**
 * Reads server-sent events, calling `on(event, data, id)`, until the stream ends or `signal` does. Not by EventSource,
 * which does not report refusals. @throws ApiProblem
 */
export async function readEvents(path, on, signal) {
  const answer = await request(path, { accept: 'text/event-stream', signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block);
      const data = /^data: (.*)$/m.exec(block);
      const id = /^id: (.*)$/m.exec(block);
      if (event !== null && data !== null) on(event[1], JSON.parse(data[1]), id?.[1]);
    }
  }
}
