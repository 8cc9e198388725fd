import { Live } from './kit/live.ts';

const live = new Live();
addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port !== undefined) live.join(port);
});
