#!/bin/sh
# Makes the certificates of these tests: an authority whose key is thrown away, what it signed, and what it did not. All are valid
# for a hundred years, but for the one that is expired; all have the one key beside them, which is nobody's.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
ec() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
ec "$work/authority.key"
openssl req -x509 -new -key "$work/authority.key" -subj "/CN=trunkline test authority" -days 36500 \
  -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" -out authority.pem
ec server.key
touch "$work/index"
cat > "$work/ca.conf" <<CONF
[ca]
default_ca = it
[it]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = none
unique_subject = no
[any]
commonName = supplied
CONF
sign() { # name, alternative names, begin, end
  openssl req -new -key server.key -subj "/CN=$1" -out "$work/$1.csr"
  printf 'basicConstraints=CA:FALSE\nsubjectAltName=%s\n' "$2" > "$work/$1.ext"
  openssl ca -batch -notext -config "$work/ca.conf" -cert authority.pem -keyfile "$work/authority.key" \
    -in "$work/$1.csr" -extfile "$work/$1.ext" -startdate "$3" -enddate "$4" -out "$1.pem" 2> /dev/null
}
sign good "DNS:localhost,DNS:server.test,IP:127.0.0.1" 20200101000000Z 21200101000000Z
sign expired "DNS:localhost,IP:127.0.0.1" 20000101000000Z 20010101000000Z
sign elsewhere "DNS:elsewhere.test" 20200101000000Z 21200101000000Z
# More names than anybody wants to read.
names=$(seq -f "DNS:host-%g.elsewhere.test" -s, 1 400)
sign crowded "$names" 20200101000000Z 21200101000000Z
openssl req -x509 -new -key server.key -subj "/CN=selfsigned" -days 36500 \
  -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -addext "basicConstraints=critical,CA:FALSE" -out selfsigned.pem
