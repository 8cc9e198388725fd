// Records `npm run demo` as a picture that moves: `node scripts/record-demo.mjs`, which writes docs/images/demo.svg. Each line
// appears at its time; waits are shortened. Where motion is not wanted, the picture shows the end.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Of the picture, in characters and lines. */
const COLUMNS = 112;
const ROWS = 26;
/** Of a line, in pixels. */
const HEIGHT = 18;
const WIDTH = 8;
/** A wait between two lines is not longer than this, in seconds; the end stays for a while. */
const LONGEST_WAIT = 1.2;
const END = 8;

/** @returns {Promise<{ at: number, text: string }[]>} the lines, with seconds since the start */
function record() {
  const started = performance.now();
  const demo = spawn('npm', ['run', 'demo'], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', COLUMNS: `${COLUMNS}` },
  });
  /** @type {{ at: number, text: string }[]} */
  const lines = [{ at: 0, text: '$ npm run demo' }];
  let rest = '';
  for (const stream of [demo.stdout, demo.stderr])
    stream.on('data', (/** @type {Buffer} */ data) => {
      const [last = '', ...done] = `${rest}${data}`.split('\n').reverse();
      rest = last;
      for (const text of done.reverse()) lines.push({ at: (performance.now() - started) / 1000, text });
    });
  return new Promise((resolve, reject) => {
    demo.once('error', reject);
    demo.once('close', (code) => (code === 0 ? resolve(lines) : reject(new Error(`the demo ended with ${code}`))));
  });
}

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** @param {readonly { at: number, text: string }[]} recorded */
function draw(recorded) {
  // Headings of npm are not part of the demo; long lines wrap.
  const lines = recorded
    .filter(({ text }) => !text.startsWith('> ') && !(text === '' && recorded[0]?.text === text))
    .flatMap(({ at, text }) =>
      (text.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? ['']).map((part) => ({ at, text: part })),
    );
  let now = 0;
  const times = lines.map(({ at }, index) => {
    now += Math.min(LONGEST_WAIT, at - (lines[index - 1]?.at ?? 0));
    return now;
  });
  const total = now + END;
  const share = (/** @type {number} */ time) => `${((time / total) * 100).toFixed(2)}%`;
  const scroll = times
    .map((time, index) => ({ time, up: Math.max(0, index + 1 - ROWS) * HEIGHT }))
    .map(({ time, up }) => `${share(time)}{transform:translateY(-${up}px)}`)
    .join('');
  const end = Math.max(0, lines.length - ROWS) * HEIGHT;
  const [width, height] = [COLUMNS * WIDTH + 32, ROWS * HEIGHT + 28];
  const texts = lines.map(
    ({ text }, index) =>
      `<text y="${(index + 1) * HEIGHT}" class="${index === 0 ? 'asked' : ''}" style="animation-name:l${index}">${escaped(text)}</text>`,
  );
  const frames = times.map(
    (time, index) =>
      `@keyframes l${index}{0%{opacity:0}${share(Math.max(0, time - 0.01))}{opacity:0}${share(time)}{opacity:1}100%{opacity:1}}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>npm run demo, recorded: a site of six machines is deployed, one of which fails</title>
<style>
text{font:13px ui-monospace,"DejaVu Sans Mono",Menlo,monospace;fill:#d7dde6;white-space:pre}
.asked{fill:#8ab4ff}
.lines{transform:translateY(-${end}px)}
@media (prefers-reduced-motion:no-preference){
.lines{animation:scroll ${total.toFixed(1)}s step-end infinite}
text{animation-duration:${total.toFixed(1)}s;animation-timing-function:step-end;animation-iteration-count:infinite}
@keyframes scroll{0%{transform:none}${scroll}100%{transform:translateY(-${end}px)}}
${frames.join('\n')}
}
</style>
<rect width="100%" height="100%" rx="10" fill="#12161c"/>
<svg x="16" y="10" width="${width - 32}" height="${height - 20}"><g class="lines">
${texts.join('\n')}
</g></svg>
</svg>
`;
}

const recorded = await record();
const file = `${root}docs/images/demo.svg`;
writeFileSync(file, draw(recorded));
console.log(`${file}: ${recorded.length} lines, ${recorded.at(-1)?.at.toFixed(0)} s`);
