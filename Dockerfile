# The image of Postern: one static binary, without a shell or root, for a read-only file system.
#
#   docker build -t postern .
#   docker run -p 127.0.0.1:8080:8080 -p 127.0.0.1:8090:8090 -v postern:/data postern
#
# docs/install.md explains the settings that a container needs.

# Both images are pinned by the digest of their index for all platforms, and Dependabot updates them.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS build
WORKDIR /src
COPY go.mod go.sum ./
COPY tools/nomsgpack ./tools/nomsgpack
RUN go mod download
COPY . .
# .git is part of the context, so that `postern version` shows the commit. RELEASE is the version of a release.
ARG TARGETOS TARGETARCH RELEASE
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH RELEASE=$RELEASE tools/build /out/postern && mkdir -p /out/data

FROM gcr.io/distroless/static-debian12:nonroot@sha256:afa5c872c891853ca7fcf1f12c3edb23f7eeef36189728842dd51042ff57f7ab
LABEL org.opencontainers.image.title="Postern" \
      org.opencontainers.image.description="An API gateway that you can always leave" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/postern /usr/local/bin/postern
COPY LICENSE docs/THIRD_PARTY_NOTICES /usr/share/doc/postern/
# A named volume gets its owner from here, so that uid 65532 can write to it.
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV POSTERN_DATA_DIR=/data \
    POSTERN_CONTROL_ADDR=:8080 \
    POSTERN_GATEWAY_ADDR=:8090 \
    POSTERN_LOG_FORMAT=json
VOLUME /data
EXPOSE 8080 8090
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/postern"]
CMD ["serve"]
