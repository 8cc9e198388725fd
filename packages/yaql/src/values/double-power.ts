/** Bits after the point in fixed-point arithmetic: enough that the rounding to a double is right but for freak cases. */
const precision = 200n;
const one = 1n << precision;

/**
 * `x ** y` rounded correctly. JavaScript leaves the last digits of its own operator open, and V8 gets as little as
 * 10 ** -5 wrong; Python inherits a C library that gets it right.
 */
export function powerOfDoubles(x: number, y: number): number {
  const rough = x ** y;
  if (!Number.isFinite(rough) || rough === 0 || !Number.isFinite(x) || !Number.isFinite(y)) return rough;
  if (y === 1) return x;
  if (y === 0.5) return Math.sqrt(x);
  if (Math.abs(rough) < 1e-300) return rough;
  // x ** y = 2 ** (y * log2 x): the logarithm and the power are taken in fixed point.
  const magnitude = powerOfMagnitude(Math.abs(x), y);
  return rough < 0 ? -magnitude : magnitude;
}

function powerOfMagnitude(x: number, y: number): number {
  const { mantissa, exponent } = split(x);
  const logarithm = naturalLog(mantissa) + BigInt(exponent) * ln2();
  const { mantissa: m, exponent: e } = split(Math.abs(y));
  // y as an exact fixed-point factor: mantissa in [1, 2) times a power of two.
  const product = shift(logarithm * m, BigInt(e) - precision);
  return exponential(y < 0 ? -product : product);
}

const shift = (value: bigint, by: bigint): bigint => (by >= 0n ? value << by : value >> -by);

/** A positive double as fixed-point mantissa in [1, 2) and exponent. */
function split(x: number): { mantissa: bigint; exponent: number } {
  let exponent = 0;
  let m = x;
  while (m >= 2) {
    m /= 2;
    exponent++;
  }
  while (m < 1) {
    m *= 2;
    exponent--;
  }
  return { mantissa: BigInt(m * 2 ** 52) << (precision - 52n), exponent };
}

/** ln of a fixed-point number in [1, 2), by the series of the area hyperbolic tangent. */
function naturalLog(m: bigint): bigint {
  const z = ((m - one) << precision) / (m + one);
  const square = (z * z) >> precision;
  let term = z;
  let sum = 0n;
  for (let k = 1n; term !== 0n; k += 2n) {
    sum += term / k;
    term = (term * square) >> precision;
  }
  return sum * 2n;
}

let ln2Value: bigint | null = null;
function ln2(): bigint {
  ln2Value ??= naturalLog((one * 4n) / 3n) + naturalLog((one * 3n) / 2n);
  return ln2Value;
}

/** e to a fixed-point power, as a double. */
function exponential(power: bigint): number {
  const unit = ln2();
  let twos = power / unit;
  let rest = power - twos * unit;
  if (rest < 0n) {
    rest += unit;
    twos -= 1n;
  }
  let term = one;
  let sum = 0n;
  for (let k = 1n; term !== 0n; k++) {
    sum += term;
    term = ((term * rest) >> precision) / k;
  }
  // 53 bits, rounded half to even; the rest of the digits decides.
  const dropped = precision - 52n;
  const half = 1n << (dropped - 1n);
  const bits = (sum + half) >> dropped;
  return Number(bits) * 2 ** (Number(twos) - 52);
}
