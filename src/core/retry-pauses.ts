/**
 * The pauses between tries of something that is away, in milliseconds: the next at each call, twice as long as the one before up to
 * `longestMs`. Up to half of each is left out at random: thousands of agents notice the same outage, and must not return at the same moment.
 */
export function retryPauses(firstMs: number, longestMs: number): () => number {
  let wholeMs = firstMs / 2;
  return () => {
    wholeMs = Math.min(2 * wholeMs, longestMs);
    return wholeMs * (0.5 + Math.random() / 2);
  };
}
