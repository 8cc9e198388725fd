import { isIP } from 'node:net';
import { z } from 'zod';

const NAME = /^(?:\*\.)?[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?$/i;

function isHosts(entry: string): boolean {
  const [address = '', bits, ...more] = entry.split('/');
  const family = isIP(address);
  if (family === 0) return NAME.test(entry) && !/^[\d.]+$/.test(entry);
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  return isRange && more.length === 0;
}

/** Entries of the setting `checks.hosts`. */
export const checkHosts = (setting: string): string[] =>
  setting
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');

/** Which hosts checks may ask. */
export const checkSettings = z.strictObject({
  hosts: z
    .string()
    .default('')
    .refine((setting) => checkHosts(setting).every(isHosts), {
      error: 'must be names of hosts and addresses (10.20.0.0/16), separated by commas',
    })
    .describe(
      'Hosts, separated by commas, that checks of documents may ask from the worker: `prometheus.example.org`, `*.example.org` for all below it, or addresses, `10.20.0.0/16`. Workers ask no other host for them, and never the addresses of their own machine and links.',
    ),
});
