import { usersOf } from './oauth.ts';

/** A user by name as MAAS shows one. */
export function viewUser(name: string): object | null {
  const user = usersOf('4.0').find(({ username }) => username === name);
  return user
    ? {
        is_superuser: user.isSuperuser,
        username: user.username,
        email: user.email,
        is_local: true,
        resource_uri: `/MAAS/api/2.0/users/${user.username}/`,
      }
    : null;
}
