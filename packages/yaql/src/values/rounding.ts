import { valueError, YaqlError } from '../errors.ts';
import { Float, float, type Integer, integer, type Numeric, toDouble } from './numbers.ts';

/** The quotient of two integers rounded half to even; `divisor` positive. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  let quotient = dividend / divisor;
  let rest = dividend % divisor;
  if (rest < 0n) {
    rest += divisor;
    quotient -= 1n;
  }
  const twice = rest * 2n;
  return twice > divisor || (twice === divisor && quotient % 2n !== 0n) ? quotient + 1n : quotient;
}

/** A finite double as an exact fraction. */
export function exactFraction(x: number): { numerator: bigint; denominator: bigint } {
  let exponent = 0;
  let mantissa = x;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent++;
  }
  return { numerator: BigInt(mantissa), denominator: 1n << BigInt(exponent) };
}

/** Half to even on the exact binary value; a float stays a float and an integer an integer. */
export function round(x: Numeric, digits: Integer): Numeric {
  if (typeof x === 'bigint' || (typeof x === 'number' && Number.isInteger(x))) return roundInteger(x, digits);
  const value = toDouble(x);
  if (!Number.isFinite(value)) return x;
  if (digits > 323) return x;
  if (digits < -308) return new Float(value < 0 || Object.is(value, -0) ? -0 : 0);
  const n = Number(digits);
  const { numerator, denominator } = exactFraction(value);
  const scaled =
    n >= 0
      ? divideHalfEven(numerator * 10n ** BigInt(n), denominator)
      : divideHalfEven(numerator, denominator * 10n ** BigInt(-n));
  const result = Number(`${scaled}e${-n}`);
  if (!Number.isFinite(result)) throw new YaqlError('OverflowError', 'rounded value too large to represent');
  return float(result === 0 && (value < 0 || Object.is(value, -0)) ? -0 : result);
}

function roundInteger(x: Integer, digits: Integer): Integer {
  if (digits >= 0) return x;
  if (digits < -4000) return 0;
  const unit = 10n ** BigInt(-Number(digits));
  return integer(divideHalfEven(BigInt(x), unit) * unit);
}

/** Towards zero. */
export function truncate(x: number): Integer {
  if (Number.isNaN(x)) throw valueError('cannot convert float NaN to integer');
  if (!Number.isFinite(x)) throw new YaqlError('OverflowError', 'cannot convert float infinity to integer');
  return integer(BigInt(Math.trunc(x)));
}
