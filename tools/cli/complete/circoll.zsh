#compdef circoll
# Completions of circoll for zsh. The program itself says what may come: circoll __complete WORDS.
_circoll() {
  local line files
  local -a found
  for line in ${(f)"$("${words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
    if [[ $line == :files ]]; then
      files=yes
    else
      found+=("${${line%%$'\t'*}//:/\\:}:${${line#*$'\t'}/#%$line/}")
    fi
  done
  (( $#found )) && _describe 'circoll' found
  [[ -z $files ]] || _files
}
if [[ $funcstack[1] == _circoll ]]; then _circoll "$@"; else compdef _circoll circoll; fi
