-- +goose Up
-- Revisions commit in the order of their ids: a reader that has seen id 8 never
-- looks back for an id 7 that commits later. The lock for that is taken while the
-- server commits, when it waits for no client any more: a client that stops in the
-- middle of a transaction cannot hold it. Code before this step takes the lock
-- 7620817934 before it locks other rows. Here the lock comes last, so it has to be
-- another one: with the same, replicas of both releases deadlock.
-- +goose StatementBegin
CREATE FUNCTION number_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7620817935);
    UPDATE revisions SET id = nextval(pg_get_serial_sequence('revisions', 'id')) WHERE id = NEW.id;
    PERFORM pg_notify('postern_revisions', '');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE CONSTRAINT TRIGGER revisions_in_order AFTER INSERT ON revisions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION number_revision();

-- +goose Down
DROP TRIGGER revisions_in_order ON revisions;
DROP FUNCTION number_revision();
