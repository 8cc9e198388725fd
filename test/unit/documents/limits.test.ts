import { describe, expect, it } from 'vitest';
import { loadSite } from '../../../src/documents/index.ts';
import { CONFIGURATION, document, files, findings, node } from './site-files.ts';

const limits = (data: string, name = 'limits') => document('sitewright/Limits/v1', name, data);
const problemsOf = (data: string) =>
  findings(limits(data), CONFIGURATION, node('n1')).filter((one) => one.startsWith('error'));

describe('a document of limits', () => {
  it('is read with what is meant where nothing is written, and added to others of its site', () => {
    const all = limits(`
  out_of_service: [{per: site, at_most: 10%}, {per: rack, at_most: 2}]
  at_once: [{per: rack, deploying: 8}]
  windows: [{days: mon-thu, from: '22:00', to: '05:00', zone: Europe/Berlin}, {from: "12:00", to: "13:00"}]
  freezes: [{from: 2026-12-20, to: 2027-01-05, why: year end}]`);
    const more = limits('{at_once: [{per: maas, deploying: 20}, {per: maas, requests: 30}]}', 'more');
    const { site, diagnostics } = loadSite(files(all, more, CONFIGURATION, node('n1')));
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(site?.limits).toEqual({
      out_of_service: [
        { per: 'site', at_most: '10%' },
        { per: 'rack', at_most: 2 },
      ],
      at_once: [
        { per: 'rack', deploying: 8 },
        { per: 'maas', deploying: 20 },
      ],
      requests: [{ per: 'maas', requests: 30 }],
      windows: [
        { days: ['mon', 'tue', 'wed', 'thu'], from: 1320, to: 300, zone: 'Europe/Berlin' },
        { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: 720, to: 780, zone: 'UTC' },
      ],
      freezes: [{ from: '2026-12-20', to: '2027-01-05', zone: 'UTC', why: 'year end' }],
    });
    expect(loadSite(files(CONFIGURATION, node('n1'))).site).not.toHaveProperty('limits');
  });

  it('has each of its problems reported, at its place', () => {
    const found = problemsOf(`
  out_of_service: [{per: site, at_most: 0}, {per: rack, at_most: 101%}, {per: maas, at_most: 1}]
  at_once: [{per: rack}, {per: rack, deploying: 1, request: 2}]
  windows: [{days: mon-day, from: 22:00, to: '25:00', zone: Berlin}]
  freezes: [{from: 2026-12-20, to: 2026-12-19}, {from: 20 December, to: 2026-13-01}]`);
    expect(found.map((one) => one.split(' ').slice(1, 3).join(' '))).toEqual([
      ...['document.wrong-value 1.yaml:6:41', 'document.wrong-value 1.yaml:6:66', 'document.wrong-value 1.yaml:6:79'],
      ...['document.wrong-value 1.yaml:7:13', 'document.unknown-key 1.yaml:7:52'],
      ...['document.wrong-value 1.yaml:8:20', 'document.wrong-type 1.yaml:8:35'],
      ...['document.wrong-value 1.yaml:8:46', 'document.wrong-value 1.yaml:8:61'],
      ...['document.wrong-value 1.yaml:9:36', 'document.wrong-value 1.yaml:9:56', 'document.wrong-value 1.yaml:9:73'],
    ]);
  });

  it('is refused without any limit', () => {
    expect(problemsOf('{}')).toHaveLength(1);
    expect(problemsOf('{freezes: []}')).toHaveLength(1);
  });
});
