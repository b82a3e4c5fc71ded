package bench;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Spring Cloud Gateway without code of its own: routes come from the command line's configuration. */
@SpringBootApplication
public class Gateway {
    public static void main(String[] arguments) {
        SpringApplication.run(Gateway.class, arguments);
    }
}
