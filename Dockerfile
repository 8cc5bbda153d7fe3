# The web application, served by somebody without rights. How to run it: docs/guide/container.md.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
COPY locks ./locks
RUN python -m venv /opt/undercover \
    && /opt/undercover/bin/pip wheel --no-cache-dir --no-deps --wheel-dir dist . \
    && /opt/undercover/bin/pip install --no-cache-dir --require-hashes --requirement locks/undercover.txt \
    && /opt/undercover/bin/pip install --no-cache-dir --no-deps dist/*.whl \
    && /opt/undercover/bin/pip uninstall --yes pip \
    && /opt/undercover/bin/undercover warm-up

FROM python:${PYTHON}-slim
COPY --from=build /opt/undercover /opt/undercover
# Loops are compiled above; another processor than the builder's compiles its own, which are kept in /data like all
# else. Nothing else is ever written, so the root may be read-only.
RUN install -d -o 10001 -g 10001 -m 0700 /data
ENV HOME=/data PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["/opt/undercover/bin/python", "-m", "undercover.web.health"]
STOPSIGNAL SIGINT
ENTRYPOINT ["/opt/undercover/bin/undercover", "serve", "--no-browser", "--workspace", "/data/web"]
