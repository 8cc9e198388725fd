import { request, token } from './api.js';
import { say } from './parts.js';

/** A link cannot carry a token: where one is needed, the file is fetched with it and then saved. */
export function downloadWithToken(root) {
  root.addEventListener('click', async (event) => {
    const link = event.target.closest?.('a[href^="/api/"]');
    if (!link || token.get() === '') return;
    event.preventDefault();
    try {
      const answer = await request(link.getAttribute('href'), { accept: '*/*' });
      const named = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
      const file = document.createElement('a');
      file.href = URL.createObjectURL(await answer.blob());
      file.download = named ?? (link.download || link.pathname.split('/').at(-1));
      file.click();
      setTimeout(() => URL.revokeObjectURL(file.href), 60_000);
    } catch (error) {
      say(error.message);
    }
  });
}
