import { counted } from '../text/text.ts';
import type { Obstacle } from './may-touch.ts';

/** A limit, in words. */
export function limitText(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'out_of_service': {
      const { at_most, per } = obstacle.limit;
      const what = typeof at_most === 'number' ? counted(at_most, 'machine') : `${at_most} of the machines`;
      return `at most ${what} of ${placeText(per, obstacle.of)} out of service`;
    }
    case 'at_once': {
      const { limit, of } = obstacle;
      const [most, what] =
        'requests' in limit ? [limit.requests, 'prepared, deployed or released'] : [limit.deploying, 'deployed'];
      return `at most ${counted(most, 'machine')} of ${placeText(limit.per, of)} ${what} at a time`;
    }
    case 'freeze': {
      const { from, to, why } = obstacle.freeze;
      return `freeze from ${from} to ${to}${why === undefined ? '' : ` (${why})`}`;
    }
    case 'window':
      return 'outside the windows for changes';
  }
}

function placeText(per: 'site' | 'rack' | 'maas', of: string | null): string {
  if (per === 'rack') return of === null ? 'a rack' : `rack ${of}`;
  return per === 'site' ? 'the site' : 'all sites';
}
