# Words that zsh offers at the end of lines: zsh -f completed.zsh SCRIPT LINE...
# An interactive zsh reads the script. Each word that completion adds is printed, as `=> word`, and `=> END` after each line.
zmodload zsh/zpty
zpty shell zsh -f -i
said() { while zpty -r shell got; do [[ $got == *"=> $1"* ]] && return; done; return 1 }
zpty -w shell 'PROMPT=; unsetopt prompt_cr; stty -echo; LISTMAX=100000'
zpty -w shell "autoload -Uz compinit; compinit -u -D; source ${(q)1}"
zpty -w shell 'compadd() { [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]] || { local -a words_; builtin compadd -A words_ "$@"; print -rl -- "=> "$^words_ }; builtin compadd "$@" }'
zpty -w shell 'seen() { _main_complete; print -r -- "=> END"; compstate[insert]=; compstate[list]= }; zle -C seen complete-word seen; bindkey "^I" seen'
zpty -w shell 'print "=> BEG""UN"'
said BEGUN || exit 1
for line in "${@[2,-1]}"; do
  zpty -w -n shell $'\x15'"$line"$'\t'
  while zpty -r shell got; do
    got=${${got%$'\n'}%$'\r'}
    [[ $got == *"=> "* ]] && print -r -- "=> ${got##*=> }"
    [[ $got == *"=> END"* ]] && break
  done
done
zpty -d shell
