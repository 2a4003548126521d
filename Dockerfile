# The binary is static and is built outside, by `make image`: the image holds it alone.
FROM scratch
COPY bin/moorpin /usr/local/bin/moorpin
USER 999:999
ENTRYPOINT ["/usr/local/bin/moorpin"]
