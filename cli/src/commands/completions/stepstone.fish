# fish completion for stepstone: stepstone completions fish > ~/.config/fish/completions/stepstone.fish
function __stepstone_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    test (count $current) -eq 0; and set current ''
    for line in ($before[1] __complete $before[2..-1] $current 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :dirs
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c stepstone -f -a '(__stepstone_complete)'
