# What only bash has. Job control is off, as in every script.
set -u
echo "process substitution $(diff <(printf '1\n2\n') <(printf '1\n2\n3\n') | head -n 1)"
echo "here-string $(tr a-z A-Z <<< hello)"
words=(one two three)
echo "array ${#words[@]} ${words[1]}"
declare -A colours=([sky]=blue)
echo "map ${colours[sky]}"
# It stays until its input is closed: bash forgets the descriptors of one that has ended.
coproc { read -r question; echo $((question * 2)); read -r; }
echo 21 >&"${COPROC[1]}"
read -r answer <&"${COPROC[0]}"
exec {COPROC[1]}>&-
echo "coprocess $answer"
wait
false | true
echo "pipe status ${PIPESTATUS[*]}"
(exit 5) &
wait -n $!
echo "wait -n $?"
[[ "built in 2024" =~ [0-9]+ ]] && echo "regex ${BASH_REMATCH[0]}"
set -o pipefail
false | true
echo "pipefail $?"
set +o pipefail
mapfile -t lines < <(seq 3)
echo "mapfile ${#lines[@]}"
mkfifo second
cat second > second.txt &
echo both | tee first.txt > second
wait
echo "tee $(cat first.txt) $(cat second.txt)"
sleep 1000 &
sleep 1000 &
pids=($(jobs -p))
echo "jobs ${#pids[@]}"
[[ $- == *m* ]] && echo "monitor on" || echo "monitor off"
exec 9<<< text
echo "device fd $(cat /dev/fd/9)"
exec 9<&-
kill "${pids[@]}"
wait 2> wait.txt
alive=0
for pid in "${pids[@]}"; do kill -0 "$pid" 2> kill.txt && alive=1; done
[[ $alive == 0 ]] && echo "children gone"
exit 0
