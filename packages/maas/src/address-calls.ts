import { type MaasConnection, segment } from './connection.ts';
import { asObject, asText } from './lenient.ts';

/** Free addresses between two, both included. */
interface AddressRange {
  readonly start: string;
  readonly end: string;
}

/** Addresses that MAAS keeps for others than machines, such as virtual ones. */
export class AddressCalls {
  readonly #maas: MaasConnection;

  constructor(maas: MaasConnection) {
    this.#maas = maas;
  }

  /** The addresses that the key's user has reserved. */
  async reserved(signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#maas.list('ipaddresses/', { signal })).map((address) => asText(asObject(address).ip));
  }

  async free(subnet: number, signal?: AbortSignal): Promise<readonly AddressRange[]> {
    const query = { op: 'unreserved_ip_ranges' };
    return (await this.#maas.list(`subnets/${segment(subnet)}/`, { query, signal })).map((range) => {
      const { start, end } = asObject(range);
      return { start: asText(start), end: asText(end) };
    });
  }

  /** Sent exactly once: ask `reserved` before it is sent again. @throws MaasError where the address is in use */
  async reserve(ip: string, signal?: AbortSignal): Promise<void> {
    await this.#maas.post('ipaddresses/', { query: { op: 'reserve' }, form: { ip }, signal });
  }
}
