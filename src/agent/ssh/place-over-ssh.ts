import { shellWord } from '../../core/text/text.ts';
import { REFUSED_PATH } from './exit-codes.ts';

/**
 * `place`, in plain `sh`, places files as the agent does: writes next to the target with final owner and permissions,
 * then renames. After `enter` it uses only names in the current folder and the open file: a link that is swapped in
 * meanwhile is replaced, never followed. Requires `enterFolder`, and `$dir`, the execution's folder.
 */
export const PLACE = `refuse() { # code path why
  echo "$2: $3" >&2
  echo "file_failed=$(printf '%s\\n%s' "$2" "$3" | base64 | tr -d '\\n')" >>"$dir/details"
  return "$1"
}
place() ( # content path mode mode-of-folders owner group overwrite parents
  content=$1 path=$2 mode=$3 folders=$4 owner=$5 group=$6 overwrite=$7
  parent=\${path%/*} name=./\${path##*/}
  [ "$8" = true ] || folders=
  enter "\${parent:-/}" "$folders"
  case $? in
    0) ;;
    2) refuse 1 "$path" 'its folder does not exist'; exit ;;
    ${REFUSED_PATH}) refuse ${REFUSED_PATH} "$path" 'it is outside the allowed folders'; exit ;;
    *) refuse 1 "$path" 'its folder cannot be created'; exit ;;
  esac
  if [ -L "$name" ]; then refuse ${REFUSED_PATH} "$path" 'it is a symbolic link'; exit; fi
  if [ -e "$name" ] && [ ! -f "$name" ]; then refuse ${REFUSED_PATH} "$path" 'it is not a regular file'; exit; fi
  if [ -e "$name" ] && [ "$overwrite" != true ]; then echo "unchanged: $path"; exit 0; fi
  new=$(mktemp -u ./.sitewright.XXXXXXXX)
  # Created exclusively (O_EXCL), and open from here on.
  set -C
  command exec 6>"$new" || { refuse 1 "$path" 'its folder is not writable'; exit; }
  set +C
  file=/proc/self/fd/6
  fail() { rm -f -- "$new"; refuse 1 "$path" "$1"; exit; }
  cat "$content" >&6 || fail 'it cannot be written'
  [ -z "$owner" ] || chown "$owner" $file || fail "there is no user $owner"
  [ -z "$group" ] || chgrp "$group" $file || fail "there is no group $group"
  chmod "$mode" $file || fail 'its permissions cannot be set'
  if [ -e "$name" ] && cmp -s $file "$name" && [ "$(stat -L -c '%a %u %g' $file)" = "$(stat -c '%a %u %g' "$name")" ]; then
    rm -f -- "$new"
    echo "unchanged: $path"
    exit 0
  fi
  sync $file
  mv -fT -- "$new" "$name" || fail 'it cannot be written'
  echo "changed=1" >>"$dir/details"
  echo "written: $path"
)
`;

/**
 * `choose SHA256 PATH`, in plain `sh`, sets `$from` to a file with that content: the one at the path, or the one that was
 * brought into the folder.
 */
export const chooseContent = (folder: string): string => `choose() {
  for from in "$2" ${shellWord(folder)}/"$1"; do
    [ -f "$from" ] && [ ! -L "$from" ] && [ "$(sha256sum <"$from")" = "$1  -" ] && return 0
  done
  return 1
}
`;
