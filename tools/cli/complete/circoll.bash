# Completions of circoll for bash. The program itself says what may come: circoll __complete WORDS.
_circoll() {
  local word files= current=${COMP_WORDS[COMP_CWORD]}
  [ "$current" != = ] || current=
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [ "$word" = :files ]; then files=yes; else COMPREPLY+=("$word"); fi
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
  fi
}
complete -F _circoll circoll
