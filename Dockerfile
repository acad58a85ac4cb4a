# The demo in a container: `docker compose run --rm demo`, or
#
#   docker build -t skillsandbox-demo .
#   docker run --rm --network none --cap-drop ALL --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
#       --security-opt systempaths=unconfined skillsandbox-demo
#
# The sandbox needs no capability and no root, but it makes namespaces and mounts, which the default profiles of container engines
# refuse, and a fresh /proc, which the kernel refuses where parts of the old one are covered: docs/kernel-support.md#containers.
ARG BUILD_IMAGE=docker.io/library/rust:1-slim-bookworm
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev libseccomp-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# libseccomp goes into the program, so that the image does not need it.
RUN LIBSECCOMP_LINK_TYPE=static LIBSECCOMP_LIB_PATH="$(dirname "$(cc -print-file-name=libseccomp.a)")" \
    cargo build --release --locked --package skillsandbox --package skillsandbox-demo

FROM ${BASE_IMAGE}
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl iproute2 openssl python3 util-linux \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home demo
COPY --from=build /src/target/release/skillsandbox /src/target/release/skillsandbox-demo /usr/local/bin/
USER demo
WORKDIR /home/demo
ENTRYPOINT ["skillsandbox-demo"]
