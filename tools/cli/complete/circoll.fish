# Completions of circoll for fish. The program itself says what may come: circoll __complete WORDS.
function __circoll_complete
    set -l words (commandline -opc)
    for line in ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c circoll -f -a '(__circoll_complete)'
