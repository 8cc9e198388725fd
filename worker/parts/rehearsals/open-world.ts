import { type Random, SimulatedTemporal, takeOverGlobals, VirtualTime } from '@sitewright/temporal-simulator';
import { openStore, type Store } from '../../../src/store/index.ts';
import { Outages, type Weather, type World } from './world.ts';

/** Lives in virtual time, which begins at this moment (milliseconds); gives clock, timers and chance back to the process afterwards. */
export async function inVirtualTime<T>(
  random: Random,
  startsAt: number,
  live: (time: VirtualTime) => Promise<T>,
): Promise<T> {
  const time = new VirtualTime(startsAt);
  const giveBack = takeOverGlobals(time, random.fork('globals'));
  try {
    return await live(time);
  } finally {
    giveBack();
  }
}

/** Temporal, store and story of a seed. */
export async function openWorld(
  seed: number,
  random: Random,
  time: VirtualTime,
  weather: Weather,
  recorded: (workflowId: string, type: string, detail: string) => void,
  store?: Store,
): Promise<World> {
  const chance = random.fork('weather');
  const story: string[] = [];
  const world: World = {
    seed,
    time,
    random,
    temporal: new SimulatedTemporal({
      time,
      random: random.fork('temporal'),
      tell: (line) => world.tell(line),
      violated: (what) => world.violated(what),
      recorded: ({ workflowId }, type, detail) => recorded(workflowId, type, detail),
      faults: {
        turn() {
          const { turnLost, cacheLost, turnLate } = world.weather;
          if (chance.chance(turnLost)) return 'lost';
          if (chance.chance(cacheLost)) return 'lost-cache';
          return chance.chance(turnLate) ? 'late' : 'none';
        },
      },
    }),
    store: store ?? (await openStore('sqlite::memory:')),
    outages: new Outages(time),
    weather,
    story,
    violation: null,
    tell(line) {
      story.push(`${new Date(time.now).toISOString().slice(5, 23).replace('T', ' ')} ${line}`);
    },
    violated(what) {
      world.violation ??= what;
      world.tell(`VIOLATION: ${what}`);
    },
  };
  return world;
}
