import { Live } from './live.ts';

const live = new Live();
addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port !== undefined) live.join(port);
});
