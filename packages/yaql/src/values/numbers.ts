import { valueError, YaqlError } from '../errors.ts';
import { powerOfDoubles } from './double-power.ts';
import { Kind, type Value, ValueObject } from './kind.ts';

/** A float that JavaScript cannot distinguish from an integer, or that is not finite. See {@link float}. */
export class Float extends ValueObject {
  readonly value: number;
  constructor(value: number) {
    super();
    this.value = value;
  }
  override get kind(): Kind {
    return Kind.Float;
  }
}

/** A bigint is never in the safe range, which numbers cover. */
export type Integer = number | bigint;
export type Numeric = number | bigint | Float;

/** The float value of a double: a plain number when it has a fraction, else a box. */
export function float(x: number): number | Float {
  return Number.isInteger(x) || !Number.isFinite(x) ? new Float(x) : x;
}

/** The integer value of a bigint: a plain number when that is exact. */
export function integer(x: bigint): Integer {
  return x >= -9007199254740991n && x <= 9007199254740991n ? Number(x) : x;
}

export const isInteger = (x: Value): x is Integer =>
  typeof x === 'bigint' || (typeof x === 'number' && Number.isInteger(x));

/** As a double; OverflowError for integers beyond the range of doubles. */
export function toDouble(x: Numeric | boolean): number {
  if (typeof x === 'number') return x;
  if (typeof x === 'bigint') {
    const d = Number(x);
    if (!Number.isFinite(d)) throw new YaqlError('OverflowError', 'int too large to convert to float');
    return d;
  }
  return typeof x === 'boolean' ? Number(x) : x.value;
}

/** Largest size of an integer, in bits. Python has none; a guard against expressions that fill the memory. */
const maxIntegerBits = 4_000_000;

export function bitLength(x: Integer): number {
  if (typeof x === 'number') return x === 0 ? 0 : Math.floor(Math.log2(Math.abs(x))) + 1;
  const hex = (x < 0n ? -x : x).toString(16);
  return hex.length * 4;
}

function guardBits(bits: number): void {
  if (bits > maxIntegerBits)
    throw new YaqlError('MemoryQuotaExceededException', `An integer of more than ${maxIntegerBits} bits was asked for`);
}

const bothIntegers = (a: Numeric, b: Numeric): boolean => isInteger(a) && isInteger(b);

export function add(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a + b;
    if (!Number.isInteger(a) || !Number.isInteger(b)) return float(r);
    return Number.isSafeInteger(r) ? r : integer(BigInt(a) + BigInt(b));
  }
  if (bothIntegers(a, b)) return integer(BigInt(a as Integer) + BigInt(b as Integer));
  return float(toDouble(a) + toDouble(b));
}

export function subtract(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a - b;
    if (!Number.isInteger(a) || !Number.isInteger(b)) return float(r);
    return Number.isSafeInteger(r) ? r : integer(BigInt(a) - BigInt(b));
  }
  if (bothIntegers(a, b)) return integer(BigInt(a as Integer) - BigInt(b as Integer));
  return float(toDouble(a) - toDouble(b));
}

export function multiply(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a * b;
    if (!Number.isInteger(a) || !Number.isInteger(b)) return float(r);
    // Adding 0 turns -0 into 0: integers have no negative zero.
    return Number.isSafeInteger(r) ? r + 0 : integer(BigInt(a) * BigInt(b));
  }
  if (bothIntegers(a, b)) {
    guardBits(bitLength(a as Integer) + bitLength(b as Integer));
    return integer(BigInt(a as Integer) * BigInt(b as Integer));
  }
  return float(toDouble(a) * toDouble(b));
}

const zeroDivision = (): YaqlError => new YaqlError('ZeroDivisionError', 'division by zero');

/** Integers divide with floor, anything with a float divides exactly. */
export function divide(a: Numeric, b: Numeric): Numeric {
  if (bothIntegers(a, b)) return floorDivide(a as Integer, b as Integer);
  const divisor = toDouble(b);
  if (divisor === 0) throw zeroDivision();
  return float(toDouble(a) / divisor);
}

function floorDivide(a: Integer, b: Integer): Integer {
  if (b === 0) throw zeroDivision();
  if (typeof a === 'number' && typeof b === 'number') {
    const rest = a % b;
    const quotient = (a - rest) / b;
    return (rest !== 0 && rest < 0 !== b < 0 ? quotient - 1 : quotient) + 0;
  }
  const x = BigInt(a);
  const y = BigInt(b);
  const quotient = x / y;
  const rest = x % y;
  return integer(rest !== 0n && rest < 0n !== y < 0n ? quotient - 1n : quotient);
}

/** The result has the sign of the divisor. */
export function modulo(a: Numeric, b: Numeric): Numeric {
  if (bothIntegers(a, b)) {
    if (b === 0) throw zeroDivision();
    if (typeof a === 'number' && typeof b === 'number') {
      const rest = a % b;
      return (rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest) + 0;
    }
    const y = BigInt(b as Integer);
    const rest = BigInt(a as Integer) % y;
    return integer(rest !== 0n && rest < 0n !== y < 0n ? rest + y : rest);
  }
  const y = toDouble(b);
  if (y === 0) throw zeroDivision();
  const rest = toDouble(a) % y;
  if (rest === 0) return float(y < 0 ? -0 : 0);
  return float(rest < 0 !== y < 0 ? rest + y : rest);
}

export function negate(a: Numeric): Numeric {
  if (typeof a === 'number') return -a + 0;
  return typeof a === 'bigint' ? integer(-a) : new Float(-a.value);
}

export function absolute(a: Numeric): Numeric {
  if (typeof a === 'number') return Math.abs(a);
  return typeof a === 'bigint' ? integer(a < 0n ? -a : a) : new Float(Math.abs(a.value));
}

/** A comparison that is exact between integers and floats of any size; NaN for "unordered". */
export function compareNumbers(a: Numeric | boolean, b: Numeric | boolean): number {
  const x = a instanceof Float ? a.value : typeof a === 'boolean' ? Number(a) : a;
  const y = b instanceof Float ? b.value : typeof b === 'boolean' ? Number(b) : b;
  // JavaScript compares bigint and number by their exact values.
  return x < y ? -1 : x > y ? 1 : x >= y ? 0 : Number.NaN;
}

export function power(a: Numeric, b: Numeric): Numeric {
  if (bothIntegers(a, b)) {
    const exponent = b as Integer;
    if (exponent >= 0) {
      if (a === 0 || a === 1) return exponent === 0 ? 1 : (a as Integer);
      if (a === -1) return BigInt(exponent) % 2n === 0n ? 1 : -1;
      guardBits(bitLength(a as Integer) * Number(exponent));
      return integer(BigInt(a as Integer) ** BigInt(exponent));
    }
  }
  const x = toDouble(a);
  const y = toDouble(b);
  if (x === 0 && y < 0) throw new YaqlError('ZeroDivisionError', '0.0 cannot be raised to a negative power');
  if (x === 1 || y === 0) return new Float(1);
  if (x === -1 && (y === Infinity || y === -Infinity)) return new Float(1);
  if (x < 0 && Number.isFinite(x) && Number.isFinite(y) && !Number.isInteger(y))
    throw valueError('negative number cannot be raised to a fractional power');
  const r = powerOfDoubles(x, y);
  if (!Number.isFinite(r) && Number.isFinite(x) && Number.isFinite(y))
    throw new YaqlError('OverflowError', 'Numerical result out of range');
  return float(r);
}

/** `a ** b mod c` on integers; a negative exponent asks for the modular inverse. */
export function modularPower(a: Integer, b: Integer, c: Integer): Integer {
  let modulus = BigInt(c);
  if (modulus === 0n) throw valueError('pow() 3rd argument cannot be 0');
  const negative = modulus < 0n;
  if (negative) modulus = -modulus;
  let base = ((BigInt(a) % modulus) + modulus) % modulus;
  let exponent = BigInt(b);
  if (exponent < 0n) {
    base = modularInverse(base, modulus);
    exponent = -exponent;
  }
  let result = 1n % modulus;
  while (exponent > 0n) {
    if (exponent & 1n) result = (result * base) % modulus;
    base = (base * base) % modulus;
    exponent >>= 1n;
  }
  return integer(negative && result !== 0n ? result - modulus : result);
}

function modularInverse(a: bigint, modulus: bigint): bigint {
  let [r0, r1, s0, s1] = [a, modulus, 1n, 0n];
  while (r1 !== 0n) {
    const q = r0 / r1;
    [r0, r1] = [r1, r0 - q * r1];
    [s0, s1] = [s1, s0 - q * s1];
  }
  if (r0 !== 1n) throw valueError('base is not invertible for the given modulus');
  return ((s0 % modulus) + modulus) % modulus;
}

export function shiftLeft(value: Integer, bits: Integer): Integer {
  if (bits < 0) throw valueError('negative shift count');
  if (value === 0) return 0;
  if (bits >= 9_223_372_036_854_775_807n) throw new YaqlError('OverflowError', 'too many digits in integer');
  guardBits(bitLength(value) + Number(bits));
  return integer(BigInt(value) << BigInt(bits));
}

export function shiftRight(value: Integer, bits: Integer): Integer {
  if (bits < 0) throw valueError('negative shift count');
  if (Number(bits) > maxIntegerBits * 2) return value < 0 ? -1 : 0;
  return integer(BigInt(value) >> BigInt(bits));
}
