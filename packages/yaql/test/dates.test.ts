import { describe, expect, it } from 'vitest';
import { createEngine, DateTime, isoText } from '../src/index.ts';

/** 2016-02-29 13:45:59 UTC. */
const clock = () => 1_456_753_559_000_000n;
const read = (text: string, engine = createEngine({ clock })): string => {
  const value = engine.evaluate('datetime($)', text);
  if (!(value instanceof DateTime)) throw new Error('no date');
  return isoText(value);
};

describe('dates without a format', () => {
  it('take missing parts from today', () => {
    expect(read('10:30')).toBe('2016-02-29T10:30:00+00:00');
    expect(read('2015')).toBe('2015-02-28T00:00:00+00:00');
    expect(read('7 March')).toBe('2016-03-07T00:00:00+00:00');
    expect(read('Wed')).toBe('2016-03-02T00:00:00+00:00');
  });

  it('put a year of two digits within fifty years of today', () => {
    expect(read('1/2/65')).toBe('2065-01-02T00:00:00+00:00');
    expect(read('1/2/66')).toBe('1966-01-02T00:00:00+00:00');
  });

  it('take today from the local zone', () => {
    const engine = createEngine({ clock, localOffset: 11n * 3_600_000_000n });
    expect(read('10:30', engine)).toBe('2016-03-01T10:30:00+00:00');
  });

  it('need no clock when they are whole, and are refused without one when they are not', () => {
    const engine = createEngine();
    expect(read('Thu, 25 Sep 2003 10:49:41 -0300', engine)).toBe('2003-09-25T10:49:41-03:00');
    for (const text of ['10:30', '7 March', '1/2/16'])
      expect(() => read(text, engine), text).toThrow(expect.objectContaining({ errorClass: 'ParserError' }));
  });
});

describe('a zone a day or more from UTC', () => {
  const engine = createEngine();
  const date = 'datetime(2020, 3, 4, offset => timespan(days => 1))';
  it('is refused only where it is needed', () => {
    expect(engine.evaluate(`${date}.year`)).toBe(2020);
    expect(engine.evaluate(`${date} = 1`)).toBe(false);
    for (const use of ['.offset', '.utc', ' = datetime(0)', ' - datetime(0)'])
      expect(() => engine.evaluate(date + use), use).toThrow(expect.objectContaining({ errorClass: 'ValueError' }));
  });
});
