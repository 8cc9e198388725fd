import { describe, expect, it } from 'vitest';
import {
  createEngine,
  createStandardContext,
  defineFunction,
  p,
  registerHelpers,
  rest,
  YaqlError,
} from '../src/index.ts';

const engine = createEngine();

function errorOf(action: () => unknown): YaqlError {
  try {
    action();
  } catch (error) {
    if (error instanceof YaqlError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('errors', () => {
  it('shows the place of a syntax error with a caret', () => {
    const error = errorOf(() => engine.parse('1 +\n  [2, é é]'));
    expect(error.errorClass).toBe('YaqlGrammarException');
    expect(error.place).toEqual({ position: 12, line: 2, column: 9 });
    expect(error.caret()).toBe('  [2, é é]\n        ^');
  });

  it('puts the end of the expression where something is missing', () => {
    expect(errorOf(() => engine.parse('[1, 2')).place).toEqual({ position: 5, line: 1, column: 6 });
    expect(errorOf(() => engine.parse('  ')).errorClass).toBe('YaqlGrammarException');
  });

  it('counts places in code points', () => {
    expect(errorOf(() => engine.parse("'😀😀' #")).place?.position).toBe(5);
  });

  it('names the function, the kinds of its arguments and the place in the expression', () => {
    const error = errorOf(() => engine.evaluate("[1, 2].select($ + 'a').toList()"));
    expect(error.errorClass).toBe('NoMatchingFunctionException');
    expect(error.functionName).toBe('#operator_+');
    expect(error.argumentTypes).toEqual(['integer', 'string']);
    expect(error.place?.position).toBe(16);
    expect(error.describe()).toContain('in #operator_+(integer, string)');
  });

  it('locates errors of values that are drawn only when the result is converted', () => {
    const error = errorOf(() => engine.evaluate('$.select($.missing)', [{ a: 1 }]));
    expect(error.errorClass).toBe('KeyError');
    expect(error.place?.position).toBe(10);
  });

  it('knows the ancestors of a class', () => {
    const error = errorOf(() => engine.evaluate('nope()'));
    expect(error.is('ResolutionError')).toBe(true);
    expect(error.is('YaqlException')).toBe(true);
    expect(error.is('KeyError')).toBe(false);
  });
});

describe('helper functions', () => {
  const greet = defineFunction({
    name: 'greet',
    call: 'both',
    parameters: [p.string('name'), rest(p.int('numbers'))],
    documentation: 'Greets.',
    implementation: (_, name, numbers) => `hello ${name} ${numbers.map(String).join('+')}`,
  });

  it('can be called as functions and methods, with typed arguments', () => {
    const own = createEngine();
    own.registerDefinitions([greet]);
    expect(own.evaluate("greet('a', 1, true)")).toBe('hello a 1+1');
    expect(own.evaluate("'a'.greet(2)")).toBe('hello a 2');
    expect(own.evaluate("greet(name => 'b')")).toBe('hello b ');
    expect(errorOf(() => own.evaluate('greet(1)')).errorClass).toBe('NoMatchingFunctionException');
  });

  it('take part in overload resolution with the library', () => {
    const own = createEngine();
    own.register({
      name: 'len',
      call: 'both',
      parameters: [p.datetime('value')],
      documentation: 'The year.',
      implementation: (_, value) => value.civil().year,
    });
    expect(own.evaluate("len('abc') + datetime(2016, 1, 1).len()")).toBe(2019);
  });

  it('report their errors with a place', () => {
    const own = createEngine();
    own.register({
      name: 'boom',
      call: 'function',
      parameters: [],
      documentation: 'Fails.',
      implementation: () => {
        throw new TypeError('out of order');
      },
    });
    const error = errorOf(() => own.evaluate('1 + boom()'));
    expect(error.errorClass).toBe('HelperError');
    expect(error.message).toContain('out of order');
    expect(error.place?.position).toBe(4);
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  it('are loaded from a module, whose faults are all reported', () => {
    const own = createEngine();
    expect(registerHelpers(own, { helpers: [greet] })).toEqual(['greet']);
    expect(own.evaluate('greet(x)')).toBe('hello x ');
    const bad = { helpers: [greet, {}, 5] } as unknown as Parameters<typeof registerHelpers>[1];
    expect(errorOf(() => registerHelpers(own, bad)).message).toContain('helpers[1], helpers[2]');
    expect(errorOf(() => registerHelpers(own, {})).errorClass).toBe('ArgumentException');
  });

  it('cannot be methods of unevaluated arguments', () => {
    const bad = () =>
      defineFunction({
        name: 'm',
        call: 'method',
        parameters: [p.lambda('x')],
        documentation: '',
        implementation: () => null,
      });
    expect(errorOf(bad).errorClass).toBe('InvalidMethodException');
  });

  it('do not leak into other engines', () => {
    const context = createStandardContext();
    const a = createEngine({ context });
    const b = createEngine({ context });
    a.registerDefinitions([greet]);
    expect(errorOf(() => b.evaluate('greet(x)')).errorClass).toBe('NoFunctionRegisteredException');
  });
});
