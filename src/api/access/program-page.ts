import type { FastifyReply } from 'fastify';
import type { SignedIn } from '../../ops/index.ts';
import { programCode } from '../../platform/secrets/program-code.ts';
import type { WaitingProgram } from './sign-in-codes.ts';

/**
 * Asks the user whether a program on their machine may act as they: anything that runs there, as whatever user, can send their
 * browser here. It says yes by a form alone, in no frame of another page, and without scripts.
 */
export function programPage(
  reply: FastifyReply,
  { user: { name, role }, program: { port, challenge } }: { readonly user: SignedIn; readonly program: WaitingProgram },
): FastifyReply {
  // The answer to the form leads to the program.
  const policy = `default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' http://127.0.0.1:${port}`;
  return reply
    .header('content-security-policy', policy)
    .header('referrer-policy', 'same-origin')
    .header('x-frame-options', 'DENY')
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in a program? · Sitewright</title>
<link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/page.css">
</head>
<body>
<main id="main">
<h1>Sign in a program on this machine?</h1>
<p>A program asks to act as <strong>${escaped(name)}</strong> (${role}). Continue only if you have just started
<code>sitewright login</code>, and it shows this code:</p>
<pre>${programCode(challenge)}</pre>
<form method="post" action="/auth/program"><button class="main" type="submit">Sign in this program</button></form>
<p>Otherwise close this page. Someone may have sent you here to get your session.</p>
</main>
</body>
</html>
`);
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
