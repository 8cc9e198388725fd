import { shellWord } from '../../core/text/text.ts';
import { REFUSED_PATH } from './exit-codes.ts';

/**
 * `enter FOLDER MODE`, in plain `sh`, changes into a folder under the roots and creates missing folders with that mode
 * (none if the mode is empty). Operations by name then stay in the folder, even if a part of its path is replaced by a
 * link. Links are followed to places under the roots only. Returns 0; 1 if it fails; 2 if the folder does not exist;
 * `REFUSED_PATH` if it is outside the roots.
 */
export const enterFolder = (roots: readonly string[]): string => `allowed() { # a folder, resolved
  for root in ${roots.map(shellWord).join(' ')}; do
    [ "$root" = / ] && return 0
    for one in "$root" "$(cd -P -- "$root" 2>/dev/null && pwd -P)"; do
      case $one in '') continue ;; esac
      case "$1/" in "$one"/*) return 0 ;; esac
    done
  done
  return 1
}
here() { # the physical path of the current folder, even if it ends with a newline
  here=$(pwd -P; echo .)
  here=\${here%??}
  [ "$here" = / ] && here=
  return 0
}
enter() {
  near=$1 rest=
  while [ ! -d "$near" ]; do
    rest=\${near##*/}/$rest
    near=\${near%/*}
    [ -n "$near" ] || near=/
  done
  cd -P -- "$near" 2>/dev/null || return 1
  here
  allowed "$here/$rest" || return ${REFUSED_PATH}
  while [ -n "$rest" ]; do
    part=\${rest%%/*} rest=\${rest#*/}
    [ -n "$part" ] || continue
    [ -n "$2" ] || return 2
    made=
    mkdir -m 700 -- "$part" 2>/dev/null && made=yes
    cd -P -- "./$part" 2>/dev/null || return 1
    here
    allowed "$here/$rest" || return ${REFUSED_PATH}
    [ -z "$made" ] || chmod "$2" . || return 1
  done
}
`;
